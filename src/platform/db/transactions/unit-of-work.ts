import type { PlainTx } from '../statements.js';

type QueryTx = Pick<PlainTx, 'query' | 'queryAll'>;

/**
 * The first and the last step of the transaction that some work writes in. The transaction commits all of it or nothing
 * (decision 0020). An error of a step rolls it back.
 */
export type UnitOfWorkSteps<Result> = {
  /** Runs once the caller is admitted, before the statements of the work. */
  open(tx: QueryTx): Promise<void>;
  /** Runs when the whole work has succeeded. */
  close(tx: QueryTx, result: Result): Promise<void>;
};

/** The one transaction that some work writes in, while it is not committed yet. */
export type UnitOfWork = {
  open(tx: QueryTx): Promise<void>;
  /** Settles when the transaction has ended; undefined before it begins, and after it failed before its work was done. */
  transaction?: Promise<void> | undefined;
  /** Whether the transaction has run the statements of the work and waits for `lastStep`. */
  isWaiting: boolean;
  /** Resolves when the whole work has succeeded; rejects when it has failed. */
  lastStep: Promise<(tx: QueryTx) => Promise<void>>;
};

/**
 * Runs work whose writing transaction commits only when the whole work has succeeded. An error of the work rolls back what
 * it wrote. Work that writes nothing runs no step.
 *
 * @param work receives a function that returns whether the work has written
 * @param attach gives the unit of work to the context that the work uses
 */
export async function inUnitOfWork<Result>(
  steps: UnitOfWorkSteps<Result>,
  work: (hasWritten: () => boolean) => Promise<Result>,
  attach: (unit: UnitOfWork) => void,
): Promise<Result> {
  const lastStep = makeDeferred<(tx: QueryTx) => Promise<void>>();
  // Without a transaction nothing waits for it.
  lastStep.promise.catch(() => undefined);
  const unit: UnitOfWork = { open: steps.open, isWaiting: false, lastStep: lastStep.promise };
  attach(unit);
  try {
    const result = await work(() => unit.isWaiting);
    lastStep.resolve((tx) => steps.close(tx, result));
    await unit.transaction;
    return result;
  } catch (error) {
    lastStep.reject(error);
    await unit.transaction?.catch(() => undefined);
    throw error;
  }
}

/** Runs work inside a transaction that has admitted the caller, with the steps before and after it. */
export type InUnitOfWork<Result> = (tx: QueryTx, work: () => Promise<Result>) => Promise<void>;

/** Returns the result of the transaction's work while the transaction itself waits for its last step. */
export function runInUnitOfWork<Result>(
  unit: UnitOfWork,
  run: (inUnit: InUnitOfWork<Result>) => Promise<void>,
): Promise<Result> {
  const worked = makeDeferred<Result>();
  const transaction = run(async (tx, work) => {
    await unit.open(tx);
    const result = await work();
    unit.isWaiting = true;
    worked.resolve(result);
    const lastStep = await unit.lastStep;
    await lastStep(tx);
  });
  unit.transaction = transaction;
  transaction.catch(() => {
    // Rolled back before its work was done: the work may try again in another transaction.
    if (!unit.isWaiting) unit.transaction = undefined;
  });
  // Before its work is done, a transaction can only end by failing.
  return Promise.race([worked.promise, transaction.then(() => worked.promise)]);
}

type Deferred<Value> = {
  promise: Promise<Value>;
  resolve: (value: Value) => void;
  reject: (error: unknown) => void;
};

function makeDeferred<Value>(): Deferred<Value> {
  let resolve: Deferred<Value>['resolve'] = () => undefined;
  let reject: Deferred<Value>['reject'] = () => undefined;
  const promise = new Promise<Value>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
