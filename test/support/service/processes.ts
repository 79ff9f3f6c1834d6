import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectRoot } from '../../../src/config/project-root.js';

export type Ending = { code: number | null; signal: NodeJS.Signals | null };

/** A program of dist/ in a separate process. */
export type Running = {
  child: ChildProcess;
  /** Returns the standard output and standard error so far. */
  output(): string;
  ended: Promise<Ending>;
};

export type Replica = Running & { url: string; stop(signal?: NodeJS.Signals): Promise<Ending> };

const running: Running[] = [];
const folders: string[] = [];

/** Ends the processes that a test started. For afterEach. */
export async function endProcesses(): Promise<void> {
  for (const { child, ended } of running.splice(0)) {
    // After SIGKILL, the embedded database server would continue to run.
    child.kill('SIGTERM');
    await ended;
  }
}

/** Leaves a process to the one who started it. */
export function exemptFromEnd({ child }: Running): void {
  const index = running.findIndex((each) => each.child === child);
  if (index >= 0) running.splice(index, 1);
}

/** Removes the folders that tests created. For afterAll, when no process uses them. */
export async function removeFolders(): Promise<void> {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
}

/** Creates a folder with mode 755. With mkdtemp's mode, the account that runs PostgreSQL for root has no access. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'crossdock-process-'));
  folders.push(folder);
  await chmod(folder, 0o755);
  return folder;
}

/**
 * Starts a file of dist/ with these settings and no others, in development unless they say otherwise. A server has one process, or
 * TEST_API_PROCESSES.
 */
export function run(file: string, env: Record<string, string>, args: string[] = []): Running {
  const { PATH, HOME } = process.env;
  return runProgram(process.execPath, [join(projectRoot, 'dist', file), ...args], {
    PATH,
    HOME,
    APP_ENV: 'development',
    API_PROCESSES: process.env['TEST_API_PROCESSES'] ?? '1',
    ...env,
  });
}

/** Starts a program with this environment and no other. `endProcesses` ends it. */
export function runProgram(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  cwd = projectRoot,
): Running {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close').then(([code, signal]): Ending => ({ code, signal }));
  const program = { child, output: () => output, ended };
  running.push(program);
  return program;
}

/** Starts the service as npm start does, with the demo data in an empty database, and waits until it is ready. */
export async function startReplica(env: Record<string, string>): Promise<Replica> {
  const port = env['PORT'] ?? String(await freePort());
  const service = run('fixtures/clone.js', { LOG_LEVEL: 'error', ...env, PORT: port });
  const url = `http://127.0.0.1:${port}`;
  await until(async () => {
    if (service.child.exitCode !== null)
      throw new Error(`The service ended before it was ready:\n${service.output()}`);
    return (await statusOf(`${url}/ready`)) === 200;
  });
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    service.child.kill(signal);
    return service.ended;
  };
  return { ...service, url, stop };
}

/** Returns the status of the response, or undefined if there is none. */
export async function statusOf(url: string): Promise<number | undefined> {
  try {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.status;
  } catch {
    return undefined;
  }
}

/** Waits until a condition is true. */
export async function until(isTrue: () => Promise<boolean>, limitMs = 90_000): Promise<void> {
  const deadlineMs = performance.now() + limitMs;
  while (!(await isTrue())) {
    if (performance.now() > deadlineMs) throw new Error(`The condition is still false after ${limitMs} ms.`);
    await sleep(25);
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('A TCP server has no port.');
  return address.port;
}
