import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';
import { signatureHeaders } from '../../src/modules/webhooks/delivery/sign.js';
import { rounds } from '../support/harness/effort.js';
import { findProgram, titleWith } from '../support/harness/programs.js';

const run = promisify(execFile);
const SAMPLES = join(projectRoot, 'docs/site/samples/webhooks');

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';
const OTHER = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazXBYGqRWpo=';
const BODY = '{"type":"package.created","data":{"first_name":"Zoë"}}';

/** The secret, the three headers and the body, and whether they are authentic. */
type Case = [name: string, input: string[], isAuthentic: boolean];

function sent(secrets: string[], ageSeconds = 0): [id: string, timestamp: string, signature: string] {
  const sentAt = new Date(Date.now() - ageSeconds * 1000);
  const headers = signatureHeaders(secrets, { id: 'msg_1', sentAt, body: BODY });
  return ['msg_1', headers['webhook-timestamp'] ?? '', headers['webhook-signature'] ?? ''];
}

const [id, timestamp, signature] = sent([SECRET]);
const CASES: Case[] = [
  ['as sent', [SECRET, id, timestamp, signature, BODY], true],
  ['signed with a new and an old secret', [SECRET, ...sent([OTHER, SECRET]), BODY], true],
  ['another body', [SECRET, id, timestamp, signature, BODY.replace('Zoë', 'Zoe')], false],
  ['another secret', [OTHER, id, timestamp, signature, BODY], false],
  ['another id', [SECRET, 'msg_2', timestamp, signature, BODY], false],
  ['ten minutes old', [SECRET, ...sent([SECRET], 600), BODY], false],
  ['a timestamp that is no number', [SECRET, id, 'now', signature, BODY], false],
  ['no signature', [SECRET, id, timestamp, '', BODY], false],
];

for (const secret of ['whsec_!!!!', 'whsec_MfKQ9', 'whsec_====', 'whsec_Mf KQ9r8=', 'whsec_é'])
  CASES.push([`the secret "${secret}", which is damaged`, [secret, id, timestamp, signature, BODY], false]);

for (const secret of ['', 'whsec_']) {
  // Anyone can sign with an empty key.
  const hash = createHmac('sha256', '').update(`${id}.${timestamp}.${BODY}`).digest('base64');
  CASES.push([`the secret "${secret}", which is empty`, [secret, id, timestamp, `v1,${hash}`, BODY], false]);
}

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crossdock-webhooks-'));
  await cp(SAMPLES, folder, { recursive: true });
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** A language: the programs that it needs, what prepares it, and a program that prints one line per five arguments. */
type Language = { programs: string[]; prepare?: () => Promise<unknown>; command: () => string[] };

const GO_MAIN = `package main

import (
	"fmt"
	"os"

	"sample/crossdock"
)

func main() {
	for args := os.Args[1:]; len(args) > 0; args = args[5:] {
		header := Header{}
		header.Set("webhook-id", args[1])
		header.Set("webhook-timestamp", args[2])
		header.Set("webhook-signature", args[3])
		fmt.Println(crossdock.IsFromCrossdock(args[0], header, []byte(args[4])))
	}
}
`;

const GO_HTTP_HEADER = `package main

import "net/http"

type Header = http.Header
`;

// Go compiles net/http for half a minute.
const GO_PLAIN_HEADER = `package main

type Header map[string]string

func (header Header) Get(name string) string  { return header[name] }
func (header Header) Set(name, value string) { header[name] = value }
`;

const JAVA_MAIN = `public final class Main {
    public static void main(String[] a) throws Exception {
        for (int n = 0; n < a.length; n += 5) {
            byte[] body = a[n + 4].getBytes(java.nio.charset.StandardCharsets.UTF_8);
            System.out.println(Verify.isFromCrossdock(a[n], a[n + 1], a[n + 2], a[n + 3], body));
        }
    }
}
`;

/** Flags of a Java process that ends before optimised code or parallel garbage collection is of use. */
const SHORT_RUN = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

const PYTHON_MAIN = `import json, sys
from verify import is_from_crossdock
names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
for n in range(1, len(sys.argv), 5):
    secret, *values, body = sys.argv[n : n + 5]
    print(json.dumps(is_from_crossdock(secret, dict(zip(names, values)), body.encode())))
`;

const JS_MAIN = `import { isFromCrossdock } from './verify.mjs';
const args = process.argv.slice(2);
while (args.length > 0) {
  const [secret, id, timestamp, signature, body] = args.splice(0, 5);
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  console.log(isFromCrossdock(secret, headers, body));
}
`;

const write = (name: string, text: string) => writeFile(join(folder, name), text);

const LANGUAGES: Record<string, Language> = {
  PHP: {
    programs: ['php'],
    prepare: () =>
      write(
        'main.php',
        "<?php require 'verify.php'; foreach (array_chunk(array_slice($argv, 1), 5) as $case) echo json_encode(isFromCrossdock(...$case)), PHP_EOL;",
      ),
    command: () => ['php', 'main.php'],
  },
  Python: {
    programs: ['python3'],
    prepare: () => write('main.py', PYTHON_MAIN),
    command: () => ['python3', 'main.py'],
  },
  JavaScript: {
    programs: [],
    prepare: () => write('main.mjs', JS_MAIN),
    command: () => [process.execPath, 'main.mjs'],
  },
  Go: {
    programs: ['go'],
    async prepare() {
      await cp(join(folder, 'verify.go'), join(folder, 'crossdock', 'verify.go'));
      await rm(join(folder, 'verify.go'));
      await write('go.mod', 'module sample\n\ngo 1.21\n');
      await write('main.go', GO_MAIN);
      await write('header.go', rounds(0, 1) ? GO_HTTP_HEADER : GO_PLAIN_HEADER);
      // Optimising takes longer than it saves.
      const env = { ...process.env, CGO_ENABLED: '0' };
      await run('go', ['build', '-gcflags=all=-N -l', '-o', 'main', '.'], { cwd: folder, env });
    },
    command: () => ['./main'],
  },
  Java: {
    programs: ['java', 'javac'],
    async prepare() {
      await write('Main.java', JAVA_MAIN);
      await run(
        'javac',
        [...SHORT_RUN.map((flag) => `-J${flag}`), '-encoding', 'UTF-8', 'Main.java', 'Verify.java'],
        { cwd: folder },
      );
    },
    command: () => ['java', ...SHORT_RUN, '-Dfile.encoding=UTF-8', '-Dsun.jnu.encoding=UTF-8', 'Main'],
  },
};

describe('the samples accept authentic webhooks and refuse all others', () => {
  for (const [language, { programs, prepare, command }] of Object.entries(LANGUAGES)) {
    const missing = programs.filter((name) => !findProgram(name));
    (missing.length === 0 ? test : test.skip)(
      titleWith(language, missing),
      async () => {
        await prepare?.();
        const [program = '', ...args] = command();
        const env = { ...process.env, LC_ALL: 'C.UTF-8' };
        const inputs = CASES.flatMap(([, input]) => input);
        const { stdout } = await run(program, [...args, ...inputs], { cwd: folder, env });
        const answers = stdout.trim().split(/\r?\n/);
        expect(answers).toHaveLength(CASES.length);
        expect(CASES.map(([name], n) => [name, answers[n]])).toEqual(
          CASES.map(([name, , isAuthentic]) => [name, String(isAuthentic)]),
        );
      },
      120_000,
    );
  }
});
