import { auditStatement, type AuditFact } from '../audit.js';
import type { UserCaller } from '../auth/callers.js';
import type { Db, Tx } from '../db/transaction.js';
import { newId } from '../ids.js';
import { enqueueStatement, type JobRequest } from '../jobs/enqueue.js';
import { settledFact } from './announcements.js';
import {
  insertReceivedEvent,
  settleAnnouncements,
  type NewPackage,
  type ReceiptRow,
} from './intake-queries.js';
import { maskTrackingNumber } from './masking.js';
import type { Announcement, Ownership } from './ownership.js';

export type IntakeContext = { db: Db; tx: Tx; caller: UserCaller; requestId: string };

/**
 * What follows from a package that has just been stored, in the same transaction: its pre-alerts are settled,
 * its history and the audit trail begin, and its courier is told.
 */
export async function recordArrival(
  { db, tx, caller, requestId }: IntakeContext,
  fresh: NewPackage,
  row: ReceiptRow,
  announcements: Announcement[],
  { announcementStatus }: Ownership,
): Promise<void> {
  const ids = announcements.map(({ id }) => id);
  if (ids.length > 0) await tx.execute(settleAnnouncements(db, caller, ids, announcementStatus));
  const event = { id: newId(), packageId: row.id, courierId: row.courier_id };
  await tx.execute(insertReceivedEvent(caller, event));
  const settled = announcements.filter(({ status }) => status !== announcementStatus);
  const facts = [receivedFact(fresh, row), ...settled.map((each) => settledFact(each, announcementStatus))];
  await tx.execute(auditStatement(caller, requestId, facts));
  const job = createdJob(fresh, row);
  if (job) await tx.execute(enqueueStatement(caller.tenantId, [job]));
}

const receivedFact = ({ id, ...columns }: NewPackage, { status, received_at }: ReceiptRow): AuditFact => ({
  action: 'package.received',
  entity: 'package',
  entityId: id,
  after: { ...columns, status, received_at },
});

/**
 * The notice to the courier's api_url_add_package; none while the courier is unknown. It leaves for the
 * courier, so the number of a parcel whose customer is unknown is masked here as everywhere else.
 */
function createdJob(fresh: NewPackage, row: ReceiptRow): JobRequest | null {
  if (!fresh.courier_id) return null;
  const isKnown = fresh.user_code !== null;
  const payload = {
    package_id: row.id,
    tracking_number: isKnown ? fresh.tracking_number : maskTrackingNumber(fresh.tracking_number),
    house_number: row.house_number,
    user_code: fresh.user_code,
    weight_lb: fresh.weight_lb,
    status: row.status,
    received_at: row.received_at,
  };
  return { kind: 'package.created', courierId: fresh.courier_id, payload };
}
