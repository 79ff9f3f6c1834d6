import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';
import { findProgram, titleWith } from '../support/harness/programs.js';

const run = promisify(execFile);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crossdock-times-'));
  await cp(join(projectRoot, 'docs/site/samples/times'), folder, { recursive: true });
  await cp(join(folder, 'time_of.go'), join(folder, 'crossdock', 'time_of.go'));
  await rm(join(folder, 'time_of.go'));
  for (const [name, text] of Object.entries(PROGRAMS)) await writeFile(join(folder, name), text);
});

afterAll(() => rm(folder, { recursive: true }));

const GO = `package main

import (
	"fmt"

	"sample/crossdock"
)

func main() {
	found, err := crossdock.TimeOf("2026-11-22 21:40:00")
	fmt.Println(found.Unix(), err == nil)
}
`;

const JAVA = `class Main {
    public static void main(String[] args) {
        System.out.println(TimeOf.timeOf("2026-11-22 21:40:00").getEpochSecond());
    }
}
`;

const PROGRAMS = {
  'main.php': "<?php require 'time-of.php'; echo timeOf('2026-11-22 21:40:00')->getTimestamp();",
  'main.py': 'from time_of import time_of\nprint(int(time_of("2026-11-22 21:40:00").timestamp()))',
  'main.mjs':
    "import { timeOf } from './time-of.mjs'; console.log(timeOf('2026-11-22 21:40:00').getTime() / 1000);",
  'main.go': GO,
  'go.mod': 'module sample\n\ngo 1.21\n',
  'Main.java': JAVA,
};

const LANGUAGES: [language: string, programs: string[], commands: string[][]][] = [
  ['PHP', ['php'], [['php', '-d', 'date.timezone=America/Jamaica', 'main.php']]],
  ['Python', ['python3'], [['python3', 'main.py']]],
  ['JavaScript', ['node'], [['node', 'main.mjs']]],
  ['Go', ['go'], [['go', 'run', '.']]],
  [
    'Java',
    ['java', 'javac'],
    [
      ['javac', 'Main.java', 'TimeOf.java'],
      ['java', 'Main'],
    ],
  ],
];

for (const [language, programs, commands] of LANGUAGES) {
  const missing = programs.filter((name) => !findProgram(name));
  (missing.length === 0 ? test : test.skip)(
    titleWith(`the sample in ${language} reads a time as UTC in another time zone`, missing),
    async () => {
      const env = { ...process.env, TZ: 'America/Jamaica', CGO_ENABLED: '0' };
      let output = '';
      for (const [program = '', ...args] of commands)
        output = (await run(program, args, { cwd: folder, env })).stdout;
      expect(output).toMatch(/^1795383600\b/);
    },
    120_000,
  );
}
