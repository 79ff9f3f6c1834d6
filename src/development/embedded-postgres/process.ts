import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode } from './location.js';

export const POLL_MS = 50;
const FAST_STOP_LIMIT_MS = 10_000;
const IMMEDIATE_STOP_LIMIT_MS = 5_000;

export type Postmaster = { pid: number; port: number };

/** The server that runs on the cluster, by its own postmaster.pid: line 1 is the process, line 4 the port. */
export async function findPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const lines = (await readIfPresent(join(cluster, 'postmaster.pid'))).split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  if (!(pid > 0 && port > 0) || !(await inspectProcess(pid))) return undefined;
  // the process may be a later one with the same number; the true one was started with -D and the cluster
  const command = process.platform === 'linux' ? await readIfPresent(`/proc/${pid}/cmdline`) : cluster;
  return command.split('\0').includes(cluster) ? { pid, port } : undefined;
}

/**
 * PostgreSQL refuses to start while any process has the number in a stale postmaster.pid, as happens in a container,
 * where numbers repeat at every start, or where nobody reaps zombies. It disregards its parent's number, so we
 * put ours: the file's shared memory key stays, and with it the check that no backend of the dead server still writes.
 */
export async function replaceStalePid(cluster: string): Promise<void> {
  const file = join(cluster, 'postmaster.pid');
  const content = await readIfPresent(file);
  const pid = Number(content.split('\n')[0]);
  if (!(pid > 0) || process.platform !== 'linux') return;
  if ((await inspectProcess(pid))?.name === 'postgres') return;
  await writeFile(file, content.replace(/^\d+/, String(process.pid)));
}

/** SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one, after which the next start recovers from the log. */
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

/** This process, to be recognised later by isAlive. */
export async function identify(): Promise<string> {
  return (await inspectProcess(process.pid))?.identity ?? '';
}

export async function isAlive(identity: string): Promise<boolean> {
  return identity !== '' && (await inspectProcess(parseInt(identity, 10)))?.identity === identity;
}

/**
 * Undefined when dead, and for a zombie too. The identity holds the start time where there is a /proc, because
 * numbers repeat: in a container our killed predecessor often had our own.
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

export async function readIfPresent(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    // ESRCH: a process that ends while its /proc file is read
    if (hasCode(error, 'ENOENT', 'ESRCH')) return '';
    throw error;
  }
}
