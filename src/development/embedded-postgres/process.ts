import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode, orIf } from './location.js';

export const POLL_MS = 50;
const FAST_STOP_LIMIT_MS = 10_000;
const IMMEDIATE_STOP_LIMIT_MS = 5_000;

export type Postmaster = { pid: number; port: number };

/** Returns the cluster's running server according to postmaster.pid: line 1 is the process id, line 4 the port. */
export async function findPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const lines = (await readIfPresent(join(cluster, 'postmaster.pid'))).split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  if (!(pid > 0 && port > 0) || !(await inspectProcess(pid))) return undefined;
  // The process id may have been reused. The server itself was started with -D and the cluster's folder.
  const command = process.platform === 'linux' ? await readIfPresent(`/proc/${pid}/cmdline`) : cluster;
  return command.split('\0').includes(cluster) ? { pid, port } : undefined;
}

/**
 * Replaces the process id in a stale postmaster.pid by our own. PostgreSQL does not start while any process has that id, which
 * is common in containers, where ids repeat and zombies remain. It ignores its parent's id. The file's shared memory key
 * stays, and with it PostgreSQL's check for backends of the crashed server.
 */
export async function replaceStalePid(cluster: string): Promise<void> {
  const file = join(cluster, 'postmaster.pid');
  const content = await readIfPresent(file);
  const pid = Number(content.split('\n')[0]);
  if (!(pid > 0) || process.platform !== 'linux') return;
  if ((await inspectProcess(pid))?.name === 'postgres') return;
  await writeFile(file, content.replace(/^\d+/, String(process.pid)));
}

/** Stops the server: SIGINT (fast shutdown), then SIGQUIT (immediate shutdown; the next start recovers from the WAL). */
export async function shutDown(pid: number): Promise<void> {
  const steps = [
    ['SIGINT', FAST_STOP_LIMIT_MS],
    ['SIGQUIT', IMMEDIATE_STOP_LIMIT_MS],
  ] as const;
  for (const [signal, limitMs] of steps) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (!hasCode(error, 'ESRCH')) throw error;
    }
    const deadlineMs = performance.now() + limitMs;
    while (performance.now() < deadlineMs) {
      if (!(await inspectProcess(pid))) return;
      await sleep(POLL_MS);
    }
  }
  throw new Error(`PostgreSQL (process ${pid}) does not stop.`);
}

/** Returns the identity of this process for isAlive. */
export async function identify(): Promise<string> {
  return (await inspectProcess(process.pid))?.identity ?? '';
}

export async function isAlive(identity: string): Promise<boolean> {
  return identity !== '' && (await inspectProcess(parseInt(identity, 10)))?.identity === identity;
}

/**
 * Returns undefined for an ended process or a zombie. With /proc, the identity contains the start time, because process ids
 * are reused: in a container a killed predecessor often had the same id.
 */
async function inspectProcess(pid: number): Promise<{ name: string; identity: string } | undefined> {
  if (process.platform !== 'linux') return canSignal(pid) ? { name: '', identity: String(pid) } : undefined;
  const [, name, rest] = /\((.*)\) (.*)/s.exec(await readIfPresent(`/proc/${pid}/stat`)) ?? [];
  const [state, startTicks] = [rest?.split(' ')[0], rest?.split(' ')[19]];
  if (name === undefined || startTicks === undefined || state === 'Z' || state === 'X') return undefined;
  return { name, identity: `${pid} ${startTicks}` };
}

function canSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/** ESRCH: the process ended while its /proc file was read. */
export const readIfPresent = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch(orIf('', 'ENOENT', 'ESRCH'));
