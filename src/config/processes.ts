import { availableParallelism, totalmem } from 'node:os';

/** What a machine, or the container, gives to a server. */
export type Machine = { cores: number; memoryBytes: number };

const MIB = 1024 * 1024;

/** An API process under load needs 420 MB at most (docs/operations.md, "Memory"). */
const MEMORY_OF_PROCESS = 512 * MIB;
/** The rest is for PostgreSQL on the same machine, the jobs, and files in memory. */
const SHARE_OF_MEMORY = 0.5;
/** With fewer, a process whose connections wait for two reports and an upload has none for light requests. */
export const CONNECTIONS_OF_PROCESS = 5;
/** More would open more connections than the default max_connections of PostgreSQL leaves beside the jobs. */
const MOST_BY_DEFAULT = 8;
/** The default of POOL_SIZE for up to two processes, and for jobs. */
export const LEAST_CONNECTIONS = 10;

/** Returns what this machine gives. In a container it is the limit of the container. */
export function thisMachine(): Machine {
  // Without a limit it is 0 or larger than any memory.
  const limit = process.constrainedMemory() || Infinity;
  return { cores: availableParallelism(), memoryBytes: Math.min(totalmem(), limit) };
}

/** Returns the number of API processes and of their database connections. A setting that is given stays as it is. */
export function sizeServer(
  given: { processes: number | undefined; connections: number | undefined },
  { cores, memoryBytes }: Machine = thisMachine(),
): { processes: number; connections: number } {
  const limits = [
    cores,
    MOST_BY_DEFAULT,
    Math.floor((memoryBytes * SHARE_OF_MEMORY) / MEMORY_OF_PROCESS),
    Math.floor((given.connections ?? Infinity) / CONNECTIONS_OF_PROCESS),
  ];
  const processes = given.processes ?? Math.max(1, Math.min(...limits));
  const usual = Math.max(LEAST_CONNECTIONS, processes * CONNECTIONS_OF_PROCESS);
  return { processes, connections: given.connections ?? usual };
}

/** Returns the part of each of `count` processes, as equal as possible. */
export const divide = (total: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => Math.floor(total / count) + (index < total % count ? 1 : 0));
