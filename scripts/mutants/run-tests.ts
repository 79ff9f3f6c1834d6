import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { patternOf, type Selection } from './mutant.js';

export type Outcome = {
  /** Titles of the tests that passed. */
  passed: string[];
  /** What failed first: a test's title, or what went wrong outside of all tests. */
  failure: string | undefined;
  seconds: number;
};

export type Bench = {
  /** The copy of the project. */
  folder: string;
  serverUrl: string;
  /** Of the template databases. */
  prefix: string;
  /** Ends the run as a failure. */
  stopping: AbortSignal;
};

/** Lines of scripts/mutants/reporter.mjs. */
type Fact = { title?: string; status?: string; fault?: string };

/** Runs tests of one file in the copy, up to the first that fails. A run that takes longer than the limit has failed. */
export async function runTests(bench: Bench, { file, titles }: Selection, limitMs: number): Promise<Outcome> {
  const startMs = performance.now();
  const outcome: Outcome = { passed: [], failure: undefined, seconds: 0 };
  const child = startJest(bench, file, titles);
  const fail = (failure: string) => {
    outcome.failure ??= failure;
    stop(child);
  };
  const timer = setTimeout(() => fail(`more than ${Math.round(limitMs / 1000)} s`), limitMs);
  const interrupt = () => fail('interrupted');
  bench.stopping.addEventListener('abort', interrupt);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.startsWith('@@')) return;
    // The reporter writes these lines.
    const { title = '', status, fault } = JSON.parse(line.slice(2)) as Fact;
    if (status === 'passed') outcome.passed.push(title);
    if (status === 'failed') fail(title || `the file fails: ${firstLine(fault ?? '')}`);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  bench.stopping.removeEventListener('abort', interrupt);
  if (code !== 0) outcome.failure ??= `jest ended with ${code}: ${firstLine(errors)}`;
  outcome.seconds = (performance.now() - startMs) / 1000;
  return outcome;
}

const firstLine = (text: string) => text.trim().split('\n')[0] ?? '';

function startJest({ folder, serverUrl, prefix }: Bench, file: string, titles?: readonly string[]) {
  const jest = join(folder, 'node_modules', 'jest', 'bin', 'jest.js');
  const flags = ['--experimental-vm-modules', '--no-warnings'];
  const pattern = titles ? ['-t', titles.map(patternOf).join('|')] : [];
  return spawn(
    process.execPath,
    [
      ...flags,
      jest,
      '-i',
      '--reporters',
      join(folder, 'scripts/mutants/reporter.mjs'),
      ...pattern,
      '--runTestsByPath',
      file,
    ],
    {
      cwd: folder,
      env: { ...process.env, TEST_ADMIN_URL: serverUrl, TEST_DATABASE_PREFIX: prefix },
      stdio: ['ignore', 'pipe', 'pipe'],
      // a group of its own: what the tests have started ends with them
      detached: process.platform !== 'win32',
    },
  );
}

function stop(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null) return;
  if (process.platform === 'win32') child.kill();
  else process.kill(-child.pid, 'SIGKILL');
}
