import type { AuditFact } from '../../../platform/audit/audit.js';
import type { OpenPrealert } from './ownership.js';
import type { OpenPrealertRow } from './prealert-queries.js';

export function toOpenPrealert({ firstName, lastName, ...prealert }: OpenPrealertRow): OpenPrealert {
  const { courierId, userCode } = prealert;
  const isKnown = firstName !== null && lastName !== null;
  return { ...prealert, customer: isKnown ? { courierId, userCode, firstName, lastName } : null };
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
