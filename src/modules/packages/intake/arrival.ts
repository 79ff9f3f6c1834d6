import { audit, factOf, type AuditFact } from '../../../platform/audit/audit.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { emitEventsOfPackages, emitPrealertEvents, type EventPackageRow } from '../../webhooks/public.js';
import { settledFact } from './open-prealerts.js';
import type { OpenPrealert, Ownership } from './ownership.js';
import { settlePrealerts } from './prealert-queries.js';
import type { NewPackage, ReceiptRow } from './queries.js';

/** A package that was just stored, and the pre-alerts of its number. */
export type Arrival = {
  newPackage: NewPackage;
  row: ReceiptRow;
  prealerts: OpenPrealert[];
  prealertStatus: Ownership['prealertStatus'];
  /** The package as its courier's event shows it; none without a courier. */
  eventPackages: EventPackageRow[];
};

/**
 * Adds to the transaction what completes the intake of a package: settles its pre-alerts, writes the first entry of its audit trail,
 * and stores the event for its courier. These statements are sent with the next one or with the commit, so nothing is awaited here.
 */
export function deferArrival(tx: UserTx, arrival: Arrival): void {
  const { newPackage, row, prealerts, prealertStatus, eventPackages } = arrival;
  const ids = prealerts.map(({ id }) => id);
  if (ids.length > 0) tx.later(settlePrealerts(tx, ids, row.trackingKey, prealertStatus));
  const settled = prealerts.filter(({ status }) => status !== prealertStatus);
  const settledFacts = settled.map((prealert) => settledFact(prealert, prealertStatus));
  tx.later(audit(tx, receivedFact(newPackage, row), ...settledFacts));
  emitEventsOfPackages(tx, 'package.created', [{ packageId: row.id }], eventPackages);
  emitPrealertEvents(tx, `prealert.${prealertStatus}`, settled);
}

const receivedFact = ({ id, ...columns }: NewPackage, { status, receivedAt }: ReceiptRow): AuditFact =>
  factOf('package.received', id, { after: { ...columns, status, received_at: receivedAt } });
