import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { scrape } from '../../support/readers/exposition.js';
import { ask } from '../../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../../support/service/database.js';
import { freePort, statusOf, until } from '../../support/service/processes.js';

// A log that cannot be written, because its reader has stopped or its disk is full, must not stop the service.

const LIMIT_MS = 180_000;
/** Docker and systemd kill a process after ten seconds. */
const END_MS = 10_000;
/** The log has a request's path twice. */
const LONG_PATH = `/api/${'x'.repeat(7_000)}`;
/** More than 4 MiB of log for each of two processes. */
const REQUESTS = 1_000;

let database: TestDatabase;
const children: ChildProcess[] = [];

beforeAll(async () => {
  database = await demoDatabase();
}, LIMIT_MS);

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}, LIMIT_MS);

afterAll(() => database.drop(), LIMIT_MS);

type Server = { child: ChildProcess; url: string; metricsPort: number };

/** Starts a program of dist/ with this output, and waits until it answers. */
async function start(
  program: string,
  output: 'pipe' | number,
  env: Record<string, string> = {},
): Promise<Server> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [join(projectRoot, 'dist', program)], {
    cwd: projectRoot,
    env: {
      PATH,
      HOME,
      APP_ENV: 'development',
      DATABASE_URL: database.ownerUrl,
      API_PROCESSES: '1',
      RUN_WORKER: 'false',
      LOG_LEVEL: 'info',
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      ...env,
    },
    stdio: ['ignore', output, output === 'pipe' ? 'ignore' : output],
  });
  children.push(child);
  const url = `http://127.0.0.1:${port}`;
  const health = program.includes('worker') ? `http://127.0.0.1:${metricsPort}/health` : `${url}/ready`;
  await until(async () => {
    if (child.exitCode !== null) throw new Error('The program ended before it was ready.');
    return (await statusOf(health)) === 200;
  });
  return { child, url, metricsPort };
}

/** Sends requests that write more log than the process keeps, and returns how many lines of them it has counted as lost. */
async function flood({ url, metricsPort }: Server): Promise<number> {
  for (let sent = 0; sent < REQUESTS; sent += 20) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(url, { path: LONG_PATH })));
    expect([...new Set(answers.map(({ status }) => status))]).toEqual([404]);
  }
  expect(await statusOf(`${url}/ready`)).toBe(200);
  expect(await statusOf(`http://127.0.0.1:${metricsPort}/health`)).toBe(200);
  return lostLines(metricsPort);
}

async function lostLines(port: number): Promise<number> {
  const { series } = await scrape(port);
  return series.find(({ name }) => name === 'crossdock_log_lines_lost_total')?.value ?? NaN;
}

/** Returns the exit status after SIGTERM, and fails if the process does not end in time. */
async function end({ child }: Server): Promise<number | null> {
  const startMs = performance.now();
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  expect(performance.now() - startMs).toBeLessThan(END_MS);
  return code;
}

type Line = { msg: string; event?: string; lines?: number; req?: { path: string } };
const parse = (text: string): Line[] =>
  text
    .split('\n')
    // What follows the last line break is incomplete.
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

/** How many lines are missing by what the log says. */
const toldOf = (lines: Line[]) =>
  lines
    .filter(({ event }) => event === 'log.lines_lost')
    .reduce((sum, { lines: count = 0 }) => sum + count, 0);

/** Expects that each line of the flood is either in the log or counted, and that the log says how many are missing. */
function expectAccount(lines: Line[], lost: number): void {
  expect(toldOf(lines)).toBe(lost);
  expect(lines.filter(({ req }) => req?.path === LONG_PATH).length + lost).toBe(2 * REQUESTS);
}

describe.each(['1', '2'])('API_PROCESSES=%s: while nobody reads the log', (processes) => {
  test(
    'the service serves, says afterwards how many lines are lost, and ends when told to',
    async () => {
      const server = await start('fixtures/clone.js', 'pipe', { API_PROCESSES: processes });
      const lost = await flood(server);
      expect(lost).toBeGreaterThan(0);

      let text = '';
      server.child.stdout?.setEncoding('utf8').on('data', (part: string) => (text += part));
      await until(async () => toldOf(parse(text)) === lost);
      expectAccount(parse(text), lost);

      server.child.stdout?.pause();
      await flood(server);
      expect(await end(server)).toBe(0);
    },
    LIMIT_MS,
  );
});

describe.each(['fixtures/clone.js', 'src/worker.js'])('%s with a full disk', (program) => {
  test(
    'runs, and ends when told to',
    async () => {
      const full = openSync('/dev/full', 'w');
      try {
        const server = await start(program, full);
        if (program === 'fixtures/clone.js') expect(await flood(server)).toBeGreaterThan(0);
        expect(server.child.exitCode).toBeNull();
        expect(await end(server)).toBe(0);
      } finally {
        closeSync(full);
      }
    },
    LIMIT_MS,
  );
});

describe('a file system without space', () => {
  let folder: string;
  let isMounted = false;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'crossdock-full-'));
    mkdirSync(join(folder, 'log'));
    isMounted =
      spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', join(folder, 'log')]).status === 0;
    if (!isMounted) process.stderr.write('Skipped: only root may mount a small file system.\n');
  });

  afterAll(() => {
    if (isMounted) spawnSync('umount', [join(folder, 'log')]);
    rmSync(folder, { recursive: true });
  });

  test(
    'the service goes on, and so does its log when there is space again',
    async () => {
      if (!isMounted) return;
      const path = join(folder, 'log', 'out');
      const log = openSync(path, 'a');
      try {
        const server = await start('fixtures/clone.js', log);
        const lost = await flood(server);
        expect(lost).toBeGreaterThan(0);
        expect(spawnSync('mount', ['-o', 'remount,size=64m', join(folder, 'log')]).status).toBe(0);
        await until(async () => readFileSync(path, 'utf8').includes('"log.lines_lost"'));
        const lines = readFileSync(path, 'utf8').replaceAll(/^[^{].*\n/gm, '');
        expectAccount(parse(lines), lost);
        expect(await end(server)).toBe(0);
      } finally {
        closeSync(log);
        writeFileSync(path, '');
      }
    },
    LIMIT_MS,
  );
});
