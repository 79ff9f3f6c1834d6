import { runInUnitOfWork, type InUnitOfWork, type UnitOfWork } from '../db/unit-of-work.js';

/**
 * What a request has done in the database so far. Its rules: one writing transaction, no read outside of it once it has
 * begun, and no transaction inside another.
 */
export type RequestState = {
  /** Set for a request with an Idempotency-Key: its writing transaction commits together with the stored response. */
  unitOfWork: UnitOfWork | undefined;
  isAdmitted: boolean;
  /** Transactions that run code of a handler right now. */
  openCount: number;
  hasWritten: boolean;
  /** The state that an independent context was made from. */
  parent: RequestState | undefined;
};

export const newState = (parent?: RequestState): RequestState => ({
  unitOfWork: undefined,
  isAdmitted: false,
  openCount: 0,
  hasWritten: false,
  parent,
});

export function noteAdmission(state: RequestState): void {
  state.isAdmitted = true;
  if (state.parent) noteAdmission(state.parent);
}

/** @throws when a transaction of the request is open, or its writing transaction has begun */
export function assertMayOpen(state: RequestState): void {
  // A second connection per request starves the pool under load, and waits for the first one's locks for ever.
  if (state.openCount > 0) throw new Error('A transaction was opened inside another.');
  // What is not committed yet is invisible elsewhere. Without a key the same rule holds, so that a key changes nothing.
  if (state.hasWritten || state.unitOfWork?.transaction)
    throw new Error('A transaction was opened after the writing transaction of the request.');
  if (state.parent) assertMayOpen(state.parent);
}

/** Runs work in a transaction, so that nothing else may be opened meanwhile. */
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

/** How a transaction is run, with what goes around its work. */
export type RunWrite<Result> = (around: InUnitOfWork<Result>, unit?: UnitOfWork) => Promise<void>;

/** Runs the writing transaction of a request. One that fails leaves nothing, so that the handler may try again. */
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
