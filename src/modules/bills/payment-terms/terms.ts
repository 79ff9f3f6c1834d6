import { auditLater } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { lockPaymentTerms } from '../../../platform/db/locks.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { deleteTerms, selectTerms, storeTerms, type TermsRow } from './queries.js';

/**
 * Returns the tenant's default terms, and those of a courier.
 * @throws ApiError courier_not_found
 */
export async function readTerms(ctx: UserContext, courierId: string | null): Promise<TermsRow> {
  const [[row]] = await ctx.read([selectTerms(ctx, courierId)]);
  return existing(row, courierId);
}

function existing(row: TermsRow | undefined, courierId: string | null): TermsRow {
  if (!row) throw new Error('A select without a table returned no row.');
  if (courierId !== null && row.courierName === null) throw new ApiError('courier_not_found');
  return row;
}

/**
 * Changes the terms of a courier, or the tenant's default. Only bills that are published later follow them. It takes
 * only the lock of the tenant's payment terms. A publication does not take it: it sees the terms before or after.
 * @throws ApiError courier_not_found
 */
export function changeTerms(
  ctx: UserContext,
  { courier_id: courierId, days }: BodyOf<'updatePaymentTerms'>,
): Promise<{ row: TermsRow; isChanged: boolean }> {
  return ctx.write(async (tx) => {
    await tx.count(lockPaymentTerms(ctx.tenantId));
    const [found] = await tx.query(selectTerms(ctx, courierId));
    const row = existing(found, courierId);
    const stored = courierId === null ? row.tenantDays : row.ownDays;
    if (stored === days) return { row, isChanged: false };
    await tx.count(days === null ? deleteTerms(ctx, courierId) : storeTerms(ctx, courierId, days));
    const [action, entity] =
      courierId === null
        ? (['tenant.payment_terms_changed', ctx.tenantId] as const)
        : (['courier.payment_terms_changed', courierId] as const);
    auditLater(tx, action, entity, { before: { days: stored }, after: { days } });
    return { row: { ...row, [courierId === null ? 'tenantDays' : 'ownDays']: days }, isChanged: true };
  });
}
