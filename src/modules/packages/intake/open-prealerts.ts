import type { AuditFact } from '../../../platform/audit/audit.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import type { Db, Tx } from '../../../platform/db/transaction.js';
import { lockOpenPrealerts, type OpenPrealertRow } from './queries.js';
import type { OpenPrealert } from './ownership.js';

/** Selects and locks the open pre-alerts of a parcel, oldest first. */
export async function findOpenPrealerts(
  db: Db,
  tx: Tx,
  caller: UserCaller,
  key: string,
): Promise<OpenPrealert[]> {
  const rows = await tx.query<OpenPrealertRow>(lockOpenPrealerts(db, caller, key));
  return rows.map((row) => ({
    id: row.id,
    courierId: row.courier_id,
    userCode: row.user_code,
    trackingNumber: row.tracking_number,
    vendor: row.vendor,
    description: row.description,
    status: row.status,
    customer: toCustomer(row),
  }));
}

const toCustomer = ({ courier_id, user_code, first_name, last_name }: OpenPrealertRow) =>
  first_name === null || last_name === null
    ? null
    : { courierId: courier_id, userCode: user_code, firstName: first_name, lastName: last_name };

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
