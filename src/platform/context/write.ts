import type { Tx } from '../db/scope.js';
import type { RowsOf, Sql } from '../db/statements.js';
import type { Session } from '../db/transactions/admission.js';
import { writeAtOnce } from '../db/transactions/at-once.js';
import { inTransaction, retryDeadlocks } from '../db/transactions/open-transaction.js';
import type { Caller } from '../identity/callers.js';
import { whileOpen, type Hold, type RequestState } from './request-state.js';

/** How to write. */
type Writing = {
  /** The statement timeout, instead of the pool's own. */
  timeoutMs?: number;
  /**
   * The transaction commits on its own, even if the request is refused later, and the request may still read and write. A
   * repetition with the same Idempotency-Key may run it again. State at the call why one transaction is not enough.
   */
  keptIfRefused?: true;
};

export type Write<Who extends Caller> = {
  <const Statements extends readonly Sql[]>(
    statements: Statements,
    options?: Pick<Writing, 'keptIfRefused'>,
  ): Promise<RowsOf<Statements>>;
  <Result>(work: (tx: Tx<Who>) => Promise<Result>, options?: Writing): Promise<Result>;
};

type Work = (tx: Tx) => Promise<unknown>;

export function makeWrite<Who extends Caller>(state: RequestState, session: Session): Write<Who> {
  function write(what: readonly Sql[] | Work, { timeoutMs, keptIfRefused }: Writing = {}): Promise<unknown> {
    const hold = keptIfRefused ? undefined : state.hold;
    const run = (): Promise<unknown> => {
      if (typeof what === 'function') return writeInSteps(session, what, { hold, timeoutMs });
      return hold ? writeInSteps(session, (tx) => tx.query(what), { hold }) : writeAtOnce(session, what);
    };
    return whileOpen(state, async () => {
      const result = await retryDeadlocks(run);
      if (keptIfRefused) state.hasKept = true;
      else state.hasWritten = true;
      return result;
    });
  }
  // The authors of the statements state the row types, and the session is that of the caller.
  return write as Write<Who>;
}

type Steps = { hold: Hold | undefined; timeoutMs?: number | undefined };

const writeInSteps = (session: Session, work: Work, { hold, timeoutMs }: Steps): Promise<unknown> =>
  inTransaction(session, { timeoutMs }, async (transaction) => {
    await hold?.first(transaction.tx);
    const result = await work(transaction.tx);
    if (hold) {
      // The handler goes on before the commit, and must see the errors of deferred statements.
      await transaction.finishWork();
      hold.transaction = transaction;
    } else await transaction.commit();
    return result;
  });
