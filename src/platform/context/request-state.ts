import type { NotedRateLimit } from '../rate-limits/rate-limits.js';
import { runInUnitOfWork, type InUnitOfWork, type UnitOfWork } from '../db/transactions/unit-of-work.js';

/**
 * What a request has done in the database so far. Its rules: one writing transaction, no read outside of it once it has
 * begun, and no transaction inside another.
 */
export type RequestState = {
  /** Set for a request with an Idempotency-Key: its writing transaction commits together with the stored response. */
  unitOfWork: UnitOfWork | undefined;
  isAdmitted: boolean;
  /** The number of open transactions that run code of a handler. */
  openCount: number;
  hasWritten: boolean;
  /** By policy. Independent contexts share them. */
  rateLimits: Map<string, NotedRateLimit>;
  /** The state of the context that this independent context was made from. */
  parent: RequestState | undefined;
};

export const newState = (parent?: RequestState): RequestState => ({
  unitOfWork: undefined,
  isAdmitted: false,
  openCount: 0,
  hasWritten: false,
  rateLimits: parent?.rateLimits ?? new Map<string, NotedRateLimit>(),
  parent,
});

export function noteAdmission(state: RequestState): void {
  state.isAdmitted = true;
  if (state.parent) noteAdmission(state.parent);
}

/** @throws Error if a transaction of the request is open, or its writing transaction has begun */
export function assertMayOpen(state: RequestState): void {
  // With a second connection per request, the pool starves under load, and the second waits for the first one's locks.
  if (state.openCount > 0) throw new Error('A transaction was opened inside another.');
  // Other transactions do not see uncommitted rows. The rule also applies without an Idempotency-Key, so that requests behave the same with and without one.
  if (state.hasWritten || state.unitOfWork?.transaction)
    throw new Error('A transaction was opened after the writing transaction of the request.');
  if (state.parent) assertMayOpen(state.parent);
}

/** Runs a transaction and forbids others until it has ended. */
export async function whileOpen<Result>(state: RequestState, run: () => Promise<Result>): Promise<Result> {
  assertMayOpen(state);
  mark(state, 1);
  try {
    return await run();
  } finally {
    mark(state, -1);
  }
}

function mark(state: RequestState, step: 1 | -1): void {
  state.openCount += step;
  if (state.parent) mark(state.parent, step);
}

/** Runs a transaction, with the first and last step around its work. */
export type RunWrite<Result> = (around: InUnitOfWork<Result>, unit?: UnitOfWork) => Promise<void>;

/** Runs the writing transaction of a request. A failed one has no effect, so the handler may try again. */
export function runWrite<Result>(state: RequestState, run: RunWrite<Result>): Promise<Result> {
  return whileOpen(state, async () => {
    const { unitOfWork } = state;
    const result = await (unitOfWork
      ? runInUnitOfWork<Result>(unitOfWork, (around) => run(around, unitOfWork))
      : runAlone(run));
    state.hasWritten = true;
    return result;
  });
}

async function runAlone<Result>(run: RunWrite<Result>): Promise<Result> {
  const ended: { work?: { result: Result } } = {};
  await run(async (_tx, work) => {
    ended.work = { result: await work() };
  });
  if (!ended.work) throw new Error('The transaction ended without its work.');
  return ended.work.result;
}
