import { auditStatement, type AuditFact } from '../../../platform/audit/audit.js';
import type { SystemCaller, UserCaller } from '../../../platform/identity/callers.js';
import { DecryptionError, type EncryptionContext, type Secrets } from '../../../platform/access/secrets.js';
import type { Db, Tx } from '../../../platform/db/transaction.js';
import { ApiError } from '../../../platform/errors/errors.js';

/** Who asks for a change, and of which courier. */
export type Change = { db: Db; secrets: Secrets; caller: UserCaller; requestId: string; courierId: string };

/** A change inside its transaction. */
export type Ctx = Change & { tx: Tx };

/** The same where background work may ask for it too. */
export type AnyCtx = Omit<Ctx, 'caller'> & { caller: UserCaller | SystemCaller };

/** Notes what was done to the courier, in the transaction that does it. */
export async function record(ctx: AnyCtx, fact: Omit<AuditFact, 'entity' | 'entityId'>): Promise<void> {
  const whole = { ...fact, entity: 'courier' as const, entityId: ctx.courierId };
  await ctx.tx.execute(auditStatement(ctx.caller, ctx.requestId, [whole]));
}

/** @throws ApiError courier_not_found */
export function found<Row>(row: Row | undefined): Row {
  if (!row) throw new ApiError('courier_not_found');
  return row;
}

/** Where a courier's secret is kept. */
export const placeOf = (
  tenantId: string,
  courierId: string,
  field: EncryptionContext['field'],
): EncryptionContext => ({
  tenantId,
  rowId: courierId,
  field,
});

/**
 * A secret in clear. Null where it does not open, so that the courier can still read the rest of its settings and make
 * a new secret.
 */
export function openOrNull(secrets: Secrets, cipher: string, place: EncryptionContext): string | null {
  try {
    return secrets.decrypt(cipher, place);
  } catch (error) {
    if (error instanceof DecryptionError) return null;
    throw error;
  }
}
