import { audit, type AuditFact } from '../../platform/audit/audit.js';
import { lockParcels } from '../../platform/db/locks.js';
import type { SystemTx } from '../../platform/db/scope.js';
import { keysOfStored } from '../../modules/tracking-numbers/public.js';
import { findReceived, receiveAnnounced, type Announced } from './announced-labels-queries.js';

type Item = { id: string; number: string; key: string };

/**
 * Marks pending pre-alerts as received if the package of another key of their number belongs to the same customer, as a new
 * pre-alert of the number would be. It changes no package. The pre-alerts of other customers stay pending: the next scan of the
 * parcel flags them for staff.
 */
export async function receiveAnnouncedLabels(tx: SystemTx, items: Item[]): Promise<number> {
  const announced = items.map(toAnnounced).filter(({ keys }) => keys.length > 1);
  if (announced.length === 0) return 0;
  const found = new Set((await tx.query(findReceived(tx, announced))).map(({ id }) => id));
  const late = announced.filter(({ id }) => found.has(id));
  if (late.length === 0) return 0;
  await tx.query(
    lockParcels(
      tx.tenantId,
      late.flatMap(({ keys }) => keys),
    ),
  );
  // Decided again under the locks.
  const received = await tx.query(receiveAnnounced(tx, late));
  if (received.length > 0) tx.later(audit(tx, ...received.map(({ id }) => receivedFact(id))));
  return 0;
}

const toAnnounced = ({ id, number, key }: Item): Announced => ({
  id,
  keys: keysOfStored({ trackingKey: key, trackingNumber: number }),
});

export const receivedFact = (entityId: string): AuditFact => ({
  action: 'prealert.received',
  entity: 'prealert',
  entityId,
  before: { status: 'pending' },
  after: { status: 'received' },
});
