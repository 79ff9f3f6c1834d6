import { auditStatement, type AuditFact } from '../../../platform/audit/audit.js';
import type { SystemCaller, UserCaller } from '../../../platform/identity/callers.js';
import { DecryptionError, type EncryptionContext, type Secrets } from '../../../platform/access/secrets.js';
import type { Db, Tx } from '../../../platform/db/transaction.js';
import { ApiError } from '../../../platform/errors/errors.js';

/** The context of a change of a courier. */
export type Change = { db: Db; secrets: Secrets; caller: UserCaller; requestId: string; courierId: string };

/** The context of a change inside its transaction. */
export type Ctx = Change & { tx: Tx };

/** The same, for requests and background jobs. */
export type AnyCtx = Omit<Ctx, 'caller'> & { caller: UserCaller | SystemCaller };

/** Records a change of the courier in the audit trail, in the same transaction. */
export async function record(ctx: AnyCtx, fact: Omit<AuditFact, 'entity' | 'entityId'>): Promise<void> {
  const whole = { ...fact, entity: 'courier' as const, entityId: ctx.courierId };
  await ctx.tx.execute(auditStatement(ctx.caller, ctx.requestId, [whole]));
}

/**
 * Returns the row.
 * @throws ApiError courier_not_found if it is undefined
 */
export function found<Row>(row: Row | undefined): Row {
  if (!row) throw new ApiError('courier_not_found');
  return row;
}

/** Returns the encryption context of a courier's secret. */
export const encryptionContext = (
  tenantId: string,
  courierId: string,
  field: EncryptionContext['field'],
): EncryptionContext => ({
  tenantId,
  rowId: courierId,
  field,
});

/**
 * Decrypts a secret. Returns null if that fails, so that the courier can still read its other settings and
 * create a new secret.
 */
export function decryptOrNull(secrets: Secrets, cipher: string, place: EncryptionContext): string | null {
  try {
    return secrets.decrypt(cipher, place);
  } catch (error) {
    if (error instanceof DecryptionError) return null;
    throw error;
  }
}
