import type { AuditFact } from '../../../platform/audit/audit.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import type { Db, Tx } from '../../../platform/db/transaction.js';
import { lockAnnouncements, type AnnouncementRow } from './queries.js';
import type { Announcement } from './ownership.js';

/** Selects and locks the open pre-alerts of a parcel, oldest first. */
export async function findAnnouncements(
  db: Db,
  tx: Tx,
  caller: UserCaller,
  key: string,
): Promise<Announcement[]> {
  const rows = await tx.query<AnnouncementRow>(lockAnnouncements(db, caller, key));
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

const toCustomer = ({ courier_id, user_code, first_name, last_name }: AnnouncementRow) =>
  first_name === null || last_name === null
    ? null
    : { courierId: courier_id, userCode: user_code, firstName: first_name, lastName: last_name };

/** Returns the audit entry of a pre-alert that an intake or an update settled. */
export const settledFact = (
  { id, status }: Pick<Announcement, 'id' | 'status'>,
  became: 'received' | 'flagged',
): AuditFact => ({
  action: `prealert.${became}`,
  entity: 'prealert',
  entityId: id,
  before: { status },
  after: { status: became },
});
