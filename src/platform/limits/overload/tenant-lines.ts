import type { ControlledDelay } from './controlled-delay.js';
import { makeNestedTurns } from '../queues/nested-turns.js';
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

export function makeTenantLines<Work>(delay: ControlledDelay | undefined, kept: number): TenantLines<Work> {
  const turns = makeNestedTurns<WaitingLine<Work>>(([, key = '']) =>
    makeWaitingLine<Work>({ key, delay, kept }),
  );

  return {
    find: (tenant, key) => turns.find([tenant, key]),
    async wait(tenant, key, arrival) {
      try {
        await turns.open([tenant, key]).wait(arrival);
      } finally {
        turns.removeEmpty([tenant, key]);
      }
    },
    startNext: (mayStart) =>
      turns.takeNext(
        (line) => {
          const next = line.first();
          return next !== undefined && mayStart(next);
        },
        (line) => {
          const work = line.first();
          line.startFirst();
          return work;
        },
      ),
    size: () => turns.queues().reduce((sum, line) => sum + line.size(), 0),
  };
}
