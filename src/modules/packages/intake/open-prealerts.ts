import type { AuditFact } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { PlainTx } from '../../../platform/db/statements.js';
import type { OpenPrealert } from './ownership.js';
import { lockedOpenPrealerts } from './prealert-queries.js';

/** Selects and locks the open pre-alerts of a parcel, oldest first. */
export async function lockOpenPrealerts(
  ctx: UserContext,
  tx: PlainTx,
  trackingKey: string,
): Promise<OpenPrealert[]> {
  const rows = await tx.query(lockedOpenPrealerts(ctx, trackingKey));
  return rows.map(({ firstName, lastName, ...prealert }) => {
    const { courierId, userCode } = prealert;
    const isKnown = firstName !== null && lastName !== null;
    return { ...prealert, customer: isKnown ? { courierId, userCode, firstName, lastName } : null };
  });
}

/** Returns the audit entry of a pre-alert that an intake or an update settled. */
export const settledFact = (
  { id, status }: Pick<OpenPrealert, 'id' | 'status'>,
  became: 'received' | 'flagged',
): AuditFact => ({
  action: `prealert.${became}`,
  entity: 'prealert',
  entityId: id,
  before: { status },
  after: { status: became },
});
