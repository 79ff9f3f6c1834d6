import type { Logger } from 'pino';
import { audit, type AuditFact } from '../../platform/audit/audit.js';
import { keepUserCodes, lockParcels } from '../../platform/db/locks.js';
import type { SystemTx } from '../../platform/db/scope.js';
import { keysOfStored } from '../../modules/tracking-numbers/public.js';
import { receivedFact } from './announced-labels.js';
import { receiveAnnounced, type Announced } from './announced-labels-queries.js';
import { report } from './report.js';
import { changeUserCodes, findOrphans, type Orphan } from './renamed-prealerts-queries.js';

type Item = { id: string; number: string; key: string };
/**
 * Gives pre-alerts whose user code no customer has the present code of their customer, if the audit trail shows that exactly one
 * customer of the courier lost the code, by a rename, and had it when the pre-alert was stored. A pending one becomes received if the
 * customer's package of its number was received meanwhile. Reports the others, except those of deleted customers.
 */
export async function repairRenamedPrealerts(
  tx: SystemTx,
  items: Item[],
  log: Pick<Logger, 'warn'>,
): Promise<number> {
  if (items.length === 0) return 0;
  const ids = items.map(({ id }) => id);
  const looked = (await tx.query(findOrphans(tx, ids))).filter(isRepairable);
  const kept = new Set(looked.map(({ newCode }) => newCode));
  const parcels = parcelsOf(items, looked);
  if (looked.length > 0) {
    const keys = parcels.flatMap((parcel) => parcel.keys);
    tx.later(keepUserCodes(tx.tenantId, [...kept]));
    tx.later(lockParcels(tx.tenantId, keys));
  }
  // Decided again under the locks.
  const orphans = await tx.query(findOrphans(tx, ids));
  const changes = orphans.filter(isRepairable).filter(({ newCode }) => kept.has(newCode));
  await repair(tx, changes, parcels);
  const unexplained = orphans.filter(({ newCode, isExplained }) => newCode === null && !isExplained);
  return report(tx, unexplained, log, {
    message: 'No customer has the user code of a pre-alert.',
    fields: ({ id }) => ({ prealertId: id }),
    fact: ({ id, userCode }) => ({
      action: 'prealert.customer_unknown',
      entity: 'prealert',
      entityId: id,
      after: { user_code: userCode },
    }),
  });
}

type Repairable = Orphan & { newCode: string };

const isRepairable = (orphan: Orphan): orphan is Repairable => orphan.newCode !== null;

/** The pre-alerts with the keys of their parcels. */
function parcelsOf(items: Item[], orphans: Orphan[]): Announced[] {
  const wanted = new Set(orphans.map(({ id }) => id));
  return items
    .filter(({ id }) => wanted.has(id))
    .map(({ id, number, key }) => ({ id, keys: keysOfStored({ trackingKey: key, trackingNumber: number }) }));
}

async function repair(tx: SystemTx, changes: Repairable[], parcels: Announced[]): Promise<void> {
  if (changes.length === 0) return;
  const changed = new Set((await tx.query(changeUserCodes(tx, changes))).map(({ id }) => id));
  const ofChanged = parcels.filter(({ id }) => changed.has(id));
  const received = await tx.query(receiveAnnounced(tx, ofChanged));
  const facts = [
    ...changes.filter(({ id }) => changed.has(id)).map(renamedFact),
    ...received.map(({ id }) => receivedFact(id)),
  ];
  if (facts.length > 0) tx.later(audit(tx, ...facts));
}

/** As a rename records it. */
const renamedFact = ({ id, userCode, newCode }: Repairable): AuditFact => ({
  action: 'prealert.user_code_changed',
  entity: 'prealert',
  entityId: id,
  before: { user_code: userCode },
  after: { user_code: newCode },
});
