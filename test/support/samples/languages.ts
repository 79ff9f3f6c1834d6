import { execFile, spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { LanguageId } from '../../../scripts/contract/samples/code-samples.js';

const run = promisify(execFile);

export type Language = {
  id: LanguageId;
  /** The command whose success shows that the language can run samples. */
  check: [command: string, ...args: string[]];
  /** Writes a program that runs all samples one after another, and returns its command. */
  write(folder: string, samples: string[]): Promise<[command: string, ...args: string[]]>;
};

// Starts the output of each sample. A sample does not print it.
const MARK = '\u001e';

/** Returns why the language cannot run, or undefined. */
export function missing({ check: [command, ...args] }: Language): string | undefined {
  const { status } = spawnSync(command, args, { stdio: 'ignore' });
  return status === 0 ? undefined : `${[command, ...args].join(' ')} fails on this machine`;
}

/** Runs all samples in one process, one after another, and returns the output of each. */
export async function runSamples(language: Language, folder: string, samples: string[]): Promise<string[]> {
  const [command, ...args] = await language.write(folder, samples);
  const { PATH, HOME } = process.env;
  // Without proxies of the machine. Go downloads nothing.
  const env = { PATH, HOME, GOFLAGS: '-mod=mod', GOPROXY: 'off', GOTOOLCHAIN: 'local' };
  const { stdout, stderr } = await run(command, args, { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 });
  if (/\S/.test(stderr)) throw new Error(stderr);
  return stdout.split(MARK).slice(1);
}

const writeAll = (folder: string, samples: string[], nameOf: (n: number) => string) =>
  Promise.all(samples.map((sample, n) => writeFile(join(folder, nameOf(n)), `${sample}\n`)));

export const LANGUAGES: Language[] = [
  {
    id: 'javascript',
    check: [process.execPath, '--version'],
    async write(folder, samples) {
      await writeAll(folder, samples, (n) => `${n}.mjs`);
      const lines = samples.map((_, n) => `process.stdout.write('${MARK}');\nawait import('./${n}.mjs');\n`);
      await writeFile(join(folder, 'all.mjs'), lines.join(''));
      return [process.execPath, 'all.mjs'];
    },
  },
  {
    id: 'curl',
    check: ['curl', '--version'],
    async write(folder, samples) {
      // curl prints no status itself, so it is the last line here.
      const wrapper = `curl() { command curl --silent --show-error --write-out '\\n%{http_code}' "$@"; }\n`;
      const lines = samples.map((sample) => `printf '${MARK}'\n${sample}\n`);
      await writeFile(join(folder, 'all.sh'), wrapper + lines.join(''));
      return ['sh', 'all.sh'];
    },
  },
  {
    id: 'php',
    check: ['php', '-r', 'exit(extension_loaded("curl") ? 0 : 1);'],
    async write(folder, samples) {
      await writeAll(folder, samples, (n) => `${n}.php`);
      const lines = samples.map((_, n) => `echo "${MARK}";\n(function () { require '${n}.php'; })();\n`);
      await writeFile(join(folder, 'all.php'), `<?php\n${lines.join('')}`);
      return ['php', 'all.php'];
    },
  },
  {
    id: 'python',
    check: ['python3', '-c', 'import requests'],
    async write(folder, samples) {
      await writeAll(folder, samples, (n) => `s${n}.py`);
      const lines = samples.map((_, n) => `print("${MARK}", end="", flush=True)\nimport s${n}\n`);
      await writeFile(join(folder, 'all.py'), lines.join(''));
      return ['python3', 'all.py'];
    },
  },
  {
    id: 'go',
    check: ['go', 'version'],
    async write(folder, samples) {
      // Each sample is a program, so each becomes a package of one program.
      for (const [n, sample] of samples.entries()) {
        await mkdir(join(folder, `s${n}`));
        const text = sample.replace('package main', `package s${n}`).replace('func main()', 'func Main()');
        await writeFile(join(folder, `s${n}`, 'sample.go'), `${text}\n`);
      }
      const imports = samples.map((_, n) => `\t"samples/s${n}"\n`).join('');
      const calls = samples.map((_, n) => `\tfmt.Print("${MARK}")\n\ts${n}.Main()\n`).join('');
      await writeFile(join(folder, 'go.mod'), 'module samples\n\ngo 1.21\n');
      await writeFile(
        join(folder, 'main.go'),
        `package main\n\nimport (\n\t"fmt"\n${imports})\n\nfunc main() {\n${calls}}\n`,
      );
      return ['go', 'run', '.'];
    },
  },
];
