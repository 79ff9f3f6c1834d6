import { audit, type AuditFact } from '../../../platform/audit/audit.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { recordEventsOfPackages, type EventPackageRow } from '../../webhooks/public.js';
import { settledFact } from './open-prealerts.js';
import type { OpenPrealert, Ownership } from './ownership.js';
import { settlePrealerts } from './prealert-queries.js';
import type { NewPackage, ReceiptRow } from './queries.js';

/** A package that was just stored, and the pre-alerts of its number. */
export type Arrival = {
  newPackage: NewPackage;
  row: ReceiptRow;
  /** The keys of the parcel, the package's own first. */
  keys: string[];
  prealerts: OpenPrealert[];
  prealertStatus: Ownership['prealertStatus'];
  /** The package as its courier's event shows it; none without a courier. */
  eventPackages: EventPackageRow[];
};

/**
 * Completes the intake of a package in the same transaction: settles its pre-alerts, begins its
 * audit trail, and notifies its courier.
 */
export async function recordArrival(tx: UserTx, arrival: Arrival): Promise<void> {
  const { newPackage, row, keys, prealerts, prealertStatus, eventPackages } = arrival;
  const ids = prealerts.map(({ id }) => id);
  if (ids.length > 0) tx.later(settlePrealerts(tx, ids, keys, prealertStatus));
  const settled = prealerts.filter(({ status }) => status !== prealertStatus);
  const settledFacts = settled.map((prealert) => settledFact(prealert, prealertStatus));
  tx.later(audit(tx, receivedFact(newPackage, row), ...settledFacts));
  recordEventsOfPackages(tx, 'package.created', [{ packageId: row.id }], eventPackages);
}

const receivedFact = ({ id, ...columns }: NewPackage, { status, receivedAt }: ReceiptRow): AuditFact => ({
  action: 'package.received',
  entity: 'package',
  entityId: id,
  after: { ...columns, status, received_at: receivedAt },
});
