import type { ControlledDelay } from './controlled-delay.js';
import { makeWaitingLine, type Arrival, type WaitingLine } from './waiting-line.js';

/** The waiting lines of all tenants. Tenants take turns, and so do the lines of a tenant, and the owners in a line. */
export type TenantLines<Work> = {
  find(tenant: string, key: string): WaitingLine<Work> | undefined;
  /** @throws ApiError overloaded if it could not start in time */
  wait(tenant: string, key: string, arrival: Arrival<Work>): Promise<void>;
  /** Starts and returns the next work that may start. */
  startNext(mayStart: (work: Work) => boolean): Work | undefined;
  size(): number;
};

type Lines<Work> = Map<string, WaitingLine<Work>>;

export function makeTenantLines<Work>(delay: ControlledDelay | undefined, kept: number): TenantLines<Work> {
  // Insertion order is the order of the turns.
  const tenants = new Map<string, Lines<Work>>();

  function lineOf(tenant: string, key: string): WaitingLine<Work> {
    const lines = tenants.get(tenant) ?? new Map<string, WaitingLine<Work>>();
    const line = lines.get(key) ?? makeWaitingLine<Work>({ key, delay, kept });
    lines.set(key, line);
    tenants.set(tenant, lines);
    return line;
  }

  function remove(tenant: string, key: string): void {
    const lines = tenants.get(tenant);
    lines?.delete(key);
    if (lines?.size === 0) tenants.delete(tenant);
  }

  function start(tenant: string, key: string, line: WaitingLine<Work>): Work | undefined {
    const work = line.first();
    line.startFirst();
    const lines = tenants.get(tenant);
    remove(tenant, key);
    if (line.size() > 0) lines?.set(key, line);
    tenants.delete(tenant);
    if (lines && lines.size > 0) tenants.set(tenant, lines);
    return work;
  }

  return {
    find: (tenant, key) => tenants.get(tenant)?.get(key),
    async wait(tenant, key, arrival) {
      const line = lineOf(tenant, key);
      try {
        await line.wait(arrival);
      } finally {
        if (line.size() === 0 && tenants.get(tenant)?.get(key) === line) remove(tenant, key);
      }
    },
    startNext(mayStart) {
      for (const [tenant, lines] of tenants)
        for (const [key, line] of lines) {
          const next = line.first();
          if (next !== undefined && mayStart(next)) return start(tenant, key, line);
        }
      return undefined;
    },
    size: () =>
      [...tenants.values()].reduce(
        (sum, lines) => sum + [...lines.values()].reduce((count, line) => count + line.size(), 0),
        0,
      ),
  };
}
