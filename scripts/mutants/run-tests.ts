import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { patternOf, type Selection } from './mutant.js';

export type Outcome = {
  /** Titles of the passed tests. */
  passed: string[];
  /** The first failure: the title of a test, or the error outside all tests. */
  failure: string | undefined;
  seconds: number;
};

export type RunEnvironment = {
  /** The folder of the working copy. */
  folder: string;
  serverUrl: string;
  /** The name prefix of the template databases. */
  prefix: string;
  /** Aborts the run, which then counts as failed. */
  stopping: AbortSignal;
};

/** A line printed by scripts/mutants/reporter.mjs. */
type ReporterLine = { title?: string; status?: string; error?: string };

/**
 * Runs tests of one file in the working copy until the first failure. A run that exceeds the time limit
 * counts as failed.
 */
export async function runTests(
  environment: RunEnvironment,
  { file, titles }: Selection,
  limitMs: number,
): Promise<Outcome> {
  const startMs = performance.now();
  const outcome: Outcome = { passed: [], failure: undefined, seconds: 0 };
  const child = startJest(environment, file, titles);
  const fail = (failure: string) => {
    outcome.failure ??= failure;
    stop(child);
  };
  const timer = setTimeout(() => fail(`more than ${Math.round(limitMs / 1000)} s`), limitMs);
  const interrupt = () => fail('interrupted');
  environment.stopping.addEventListener('abort', interrupt);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.startsWith('@@')) return;
    // The reporter prints these lines.
    const { title = '', status, error } = JSON.parse(line.slice(2)) as ReporterLine;
    if (status === 'passed') outcome.passed.push(title);
    if (status === 'failed') fail(title || `the file fails: ${firstLine(error ?? '')}`);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  environment.stopping.removeEventListener('abort', interrupt);
  if (code !== 0) outcome.failure ??= `jest ended with ${code}: ${firstLine(errors)}`;
  outcome.seconds = (performance.now() - startMs) / 1000;
  return outcome;
}

const firstLine = (text: string) => text.trim().split('\n')[0] ?? '';

function startJest({ folder, serverUrl, prefix }: RunEnvironment, file: string, titles?: readonly string[]) {
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
      env: {
        ...process.env,
        TEST_ADMIN_URL: serverUrl,
        TEST_DATABASE_PREFIX: prefix,
        ...(file.startsWith('test/long/') ? { TEST_LONG: '1' } : {}),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // In its own process group, so that child processes of the tests end with it.
      detached: process.platform !== 'win32',
    },
  );
}

function stop(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null) return;
  if (process.platform === 'win32') child.kill();
  else process.kill(-child.pid, 'SIGKILL');
}
