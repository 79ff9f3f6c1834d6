import { auditStatement } from '../../../platform/audit/audit.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import type { Db, PlainTx } from '../../../platform/db/transaction.js';

/** The context of a change. */
export type Change = { db: Db; caller: UserCaller; requestId: string };

/** The context of a change inside its transaction. */
export type Ctx = Change & { tx: PlainTx };

/** The body of an action of ManageCourierBills. */
export type ActionInput<Name> = Omit<Extract<BodyOf<'manageCourierBills'>, { action: Name }>, 'action'>;

/** The maximum of a bill's columns, numeric(12, 2). */
export const MAX_USD = '9999999999.99';

type Fact = {
  action: string;
  billId: string;
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
};

export async function record({ tx, caller, requestId }: Ctx, { billId, ...fact }: Fact): Promise<void> {
  await tx.execute(auditStatement(caller, requestId, [{ ...fact, entity: 'bill', entityId: billId }]));
}
