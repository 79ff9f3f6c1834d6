import { auditStatement, type AuditFact } from '../../../platform/audit/audit.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import type { Db, Tx } from '../../../platform/db/transaction.js';
import { newId } from '../../../platform/values/ids.js';
import { recordPackageEvents } from '../../webhooks/public.js';
import { settledFact } from './open-prealerts.js';
import { insertReceivedEvent, settlePrealerts, type NewPackage, type ReceiptRow } from './queries.js';
import type { OpenPrealert, Ownership } from './ownership.js';

export type IntakeContext = { db: Db; tx: Tx; caller: UserCaller; requestId: string };

/**
 * Completes the intake of a package that was just stored, in the same transaction: settles its pre-alerts,
 * begins its history and audit trail, and notifies its courier.
 */
export async function recordArrival(
  { db, tx, caller, requestId }: IntakeContext,
  newPackage: NewPackage,
  row: ReceiptRow,
  prealerts: OpenPrealert[],
  { prealertStatus: announcementStatus }: Ownership,
): Promise<void> {
  const ids = prealerts.map(({ id }) => id);
  if (ids.length > 0) await tx.execute(settlePrealerts(db, caller, ids, announcementStatus));
  const event = { id: newId(), packageId: row.id, courierId: row.courier_id };
  await tx.execute(insertReceivedEvent(caller, event));
  const settled = prealerts.filter(({ status }) => status !== announcementStatus);
  const facts = [
    receivedFact(newPackage, row),
    ...settled.map((each) => settledFact(each, announcementStatus)),
  ];
  await tx.execute(auditStatement(caller, requestId, facts));
  const scope = { tenantId: tx.caller.tenantId, applicationFilters: db.applicationFilters };
  await recordPackageEvents(scope, tx, 'package.created', [{ packageId: row.id }]);
}

const receivedFact = ({ id, ...columns }: NewPackage, { status, received_at }: ReceiptRow): AuditFact => ({
  action: 'package.received',
  entity: 'package',
  entityId: id,
  after: { ...columns, status, received_at },
});
