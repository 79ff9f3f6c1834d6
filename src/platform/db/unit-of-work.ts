import { AsyncLocalStorage } from 'node:async_hooks';
import type { PlainTx, Rows, Sql } from './statements.js';

/** A statement whose rows the unit of work looks at by name. */
type Asked = Sql<Record<string, unknown>>;

/**
 * What is done in the transaction that some work writes in, around the work: all of it is committed, or nothing
 * (decision 0020).
 */
export type UnitOfWorkSteps<Result> = {
  /** Sent when the caller has entered. */
  opening: Asked[];
  /** Judges their answers; what it throws undoes the transaction. */
  assertMayWork(answers: Rows[]): void;
  /** What is sent last, or undefined where nothing is. Asked only when the work has written. */
  closing(result: Result): FinalStatement | undefined;
};

/** A statement, and a judge of its answer that undoes the transaction by throwing. */
export type FinalStatement = { statement: Asked; assertClosed(rows: Rows): void };

/** The one transaction that some work writes in, while it is not committed yet. */
export type UnitOfWork = Pick<UnitOfWorkSteps<never>, 'opening' | 'assertMayWork'> & {
  /** Settles when the transaction has ended; undefined before it begins. */
  transaction?: Promise<void> | undefined;
  /** The statements of the work are done; the transaction waits to be told how it ends. */
  isWaiting: boolean;
  closing: Promise<FinalStatement | undefined>;
};

/** One store for both: every further one is paid for by each promise of the process. */
const surroundings = new AsyncLocalStorage<{ held: UnitOfWork | undefined; isInTransaction: boolean }>();

/** What holds the transaction that is about to be opened; undefined when it is to commit by itself. */
export const currentUnitOfWork = (): UnitOfWork | undefined => surroundings.getStore()?.held;

export const inTransaction = <Result>(work: () => Promise<Result>): Promise<Result> =>
  surroundings.run({ held: currentUnitOfWork(), isInTransaction: true }, work);

export const isInTransaction = (): boolean => surroundings.getStore()?.isInTransaction ?? false;

const heldBy = <Result>(held: UnitOfWork, work: () => Promise<Result>): Promise<Result> =>
  surroundings.run({ held, isInTransaction: isInTransaction() }, work);

/**
 * Runs work whose writing transaction is committed only when the whole work has succeeded, together with the bracket.
 * Work that writes nothing is not touched. What the work throws undoes what it wrote.
 *
 * @param work is told whether it has written by now
 * @param attach tells the request's context of the unit of work
 */
export async function inUnitOfWork<Result>(
  bracket: UnitOfWorkSteps<Result>,
  work: (hasWritten: () => boolean) => Promise<Result>,
  attach: (unit: UnitOfWork) => void = () => undefined,
): Promise<Result> {
  let close: (closing: FinalStatement | undefined) => void = () => undefined;
  let undo: (error: unknown) => void = () => undefined;
  const closing = new Promise<FinalStatement | undefined>((resolve, reject) => {
    close = resolve;
    undo = reject;
  });
  // nobody may be waiting for it
  closing.catch(() => undefined);
  const { opening, assertMayWork } = bracket;
  const held: UnitOfWork = { opening, assertMayWork, isWaiting: false, closing };
  attach(held);
  try {
    const result = await heldBy(held, () => work(() => held.isWaiting));
    if (held.transaction) close(bracket.closing(result));
    await held.transaction;
    return result;
  } catch (error) {
    undo(error);
    await held.transaction?.catch(() => undefined);
    throw error;
  }
}

/** Answers what the transaction's work answered, while the transaction itself waits. */
export function runInUnitOfWork<Result>(
  held: UnitOfWork,
  run: (work: InUnitOfWork<Result>) => Promise<void>,
): Promise<Result> {
  assertNoUnitOfWork(held);
  let offer: (result: Result) => void = () => undefined;
  const offered = new Promise<Result>((resolve) => (offer = resolve));
  const transaction = run(async (tx, work) => {
    const answers: Rows[] = [];
    for (const statement of held.opening) answers.push(await tx.query(statement));
    held.assertMayWork(answers);
    const result = await work();
    held.isWaiting = true;
    offer(result);
    const closing = await held.closing;
    if (closing) closing.assertClosed(await tx.query(closing.statement));
  });
  held.transaction = transaction;
  transaction.catch(() => {
    // undone before its work was done: the work may try again in another
    if (!held.isWaiting) held.transaction = undefined;
  });
  // before it has offered anything a transaction ends by failing alone
  return Promise.race([offered, transaction.then(() => offered)]);
}

/** Runs work inside a transaction that the caller has entered, with what goes around it. */
export type InUnitOfWork<Result> = (tx: Pick<PlainTx, 'query'>, work: () => Promise<Result>) => Promise<void>;

/**
 * What is held is seen by nobody else, and whoever waits for its rows waits for ever: a handler writes in one
 * transaction, and reads in it what it has written.
 */
export function assertNoUnitOfWork(held: UnitOfWork | undefined): void {
  if (held?.transaction) throw new Error('A transaction was opened while another waits to be committed.');
}
