import { factOf, type AuditFact } from '../../../platform/audit/audit.js';
import type { UserTx } from '../../../platform/db/scope.js';
import type { OpenPrealert } from './ownership.js';
import { claimsOfAll, MAX_SETTLED, type OpenPrealertRow } from './prealert-queries.js';

/**
 * Returns the open pre-alerts of a parcel that decide about its owner and are settled, oldest first: those that `findOpenPrealerts` has
 * found, and if there may be more, one for each further claim.
 */
export async function readOpenPrealerts(
  tx: UserTx,
  found: OpenPrealertRow[],
  keys: string[],
  scannedNumber: string,
): Promise<OpenPrealert[]> {
  if (found.length < MAX_SETTLED) return found.map(toOpenPrealert);
  const ids = new Set(found.map(({ id }) => id));
  const others = (await tx.query(claimsOfAll(tx, keys, scannedNumber))).filter(({ id }) => !ids.has(id));
  return [...found, ...others].map(toOpenPrealert);
}

function toOpenPrealert({ firstName, lastName, ...prealert }: OpenPrealertRow): OpenPrealert {
  const { courierId, userCode } = prealert;
  const isKnown = firstName !== null && lastName !== null;
  return { ...prealert, customer: isKnown ? { courierId, userCode, firstName, lastName } : null };
}

/** Returns the audit entry of a pre-alert that an intake or an update settled. */
export const settledFact = (
  { id, status }: Pick<OpenPrealert, 'id' | 'status'>,
  became: 'received' | 'flagged',
): AuditFact => factOf(`prealert.${became}`, id, { before: { status }, after: { status: became } });
