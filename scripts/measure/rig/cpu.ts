import { readdirSync, readFileSync } from 'node:fs';
import { withClient } from '../../../src/platform/db/connections/roles.js';

/** CPU time used so far, user and system, in milliseconds. */
export type CpuTime = { serviceMs: number; postgresMs: number };

/** Reads the CPU time of the service and of PostgreSQL. */
export type CpuMeter = () => CpuTime;

/** Linux counts in hundredths of a second on every architecture that Node supports. */
export const MS_PER_TICK = 10;

/**
 * Returns a meter of the process `servicePid` and of all processes of the PostgreSQL server, background processes included.
 * Returns undefined where /proc does not show them: on other systems than Linux, or if PostgreSQL runs on another machine.
 */
export async function makeCpuMeter(servicePid: number, url: string): Promise<CpuMeter | undefined> {
  const postmaster = await findPostmaster(url);
  if (postmaster === undefined) return undefined;
  return () => {
    const service = readProcess(servicePid);
    if (!service) throw new Error('The service has ended.');
    return { serviceMs: service.own * MS_PER_TICK, postgresMs: ticksOfServer(postmaster) * MS_PER_TICK };
  };
}

/** Returns the CPU time of a process and of all its children, in ticks. */
function ticksOfServer(postmaster: number): number {
  const server = readProcess(postmaster);
  const backends = readAllProcesses().filter(({ parent }) => parent === postmaster);
  const after = readProcess(postmaster);
  if (!server || !after) throw new Error('PostgreSQL has ended.');
  // A backend that ended in between is in neither number.
  if (after.endedChildren !== server.endedChildren) return ticksOfServer(postmaster);
  return backends.reduce((sum, { own }) => sum + own, server.own + server.endedChildren);
}

export function cpuBetween(before: CpuTime, after: CpuTime, count: number): CpuTime {
  return {
    serviceMs: (after.serviceMs - before.serviceMs) / count,
    postgresMs: (after.postgresMs - before.postgresMs) / count,
  };
}

/** Returns the CPU time of one process in milliseconds. */
export const processCpuMs = (pid: number): number | undefined => {
  const times = readProcess(pid);
  return times && times.own * MS_PER_TICK;
};

/** Returns the CPU time of a process and of all that it has started, ended ones included, in milliseconds. */
export const treeCpuMs = (pid: number): number =>
  treeOf(pid).reduce((sum, process) => sum + ownAndEnded(process), 0) * MS_PER_TICK;

/** Returns a process and all living ones below it. */
export function treeOf(pid: number): ProcessTimes[] {
  const processes = readAllProcesses();
  const below = (parent: number): ProcessTimes[] =>
    processes.filter((each) => each.parent === parent).flatMap((child) => [child, ...below(child.pid)]);
  return [...processes.filter((each) => each.pid === pid), ...below(pid)];
}

const ownAndEnded = ({ own, endedChildren }: ProcessTimes) => own + endedChildren;

/** Returns the process that starts PostgreSQL's other processes, if it runs on this machine. */
async function findPostmaster(url: string): Promise<number | undefined> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const backend = readProcess(rows[0]?.pid ?? 0);
    const parent = backend && readProcess(backend.parent);
    return backend?.name === 'postgres' && parent?.name === 'postgres' ? backend.parent : undefined;
  });
}

/** The times of a process and of its ended children, in ticks. */
export type ProcessTimes = { pid: number; name: string; parent: number; own: number; endedChildren: number };

const readAllProcesses = (): ProcessTimes[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => readProcess(Number(pid)) ?? []);

/** Reads /proc/PID/stat. The process name is in parentheses and may contain spaces. */
function readProcess(pid: number): ProcessTimes | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  const [, name = '', rest = ''] = /^\d+ \((.*)\) \S (.*)$/s.exec(text) ?? [];
  const fields = rest.split(' ').map(Number);
  // After the state: the parent is field 4 of proc(5), utime to cstime are fields 14 to 17.
  const [user = NaN, system = NaN, endedUser = NaN, endedSystem = NaN] = fields.slice(10, 14);
  return { pid, name, parent: fields[0] ?? NaN, own: user + system, endedChildren: endedUser + endedSystem };
}
