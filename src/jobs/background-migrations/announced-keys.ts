import type { Logger } from 'pino';
import { lockParcels } from '../../platform/db/locks.js';
import type { SystemTx } from '../../platform/db/scope.js';
import { readScan } from '../../modules/tracking-numbers/public.js';
import { report } from './report.js';
import { storeAnnouncedKeys } from './announced-keys-queries.js';

/**
 * Gives pre-alerts the key of their own number. A further pre-alert of a courier and parcel keeps none and is reported: it may be for
 * another customer, so it is not merged. The parcels are locked, as every other writer of several pre-alerts locks them: without, this and a
 * batch of scans would lock the rows in two orders.
 */
export async function addAnnouncedKeys(
  tx: SystemTx,
  items: { id: string; number: string; key: string }[],
  log: Pick<Logger, 'warn'>,
): Promise<number> {
  const keys = items.flatMap(({ id, number }) => {
    const [found, another] = readScan(number).numbers;
    return found && !another ? [{ id, number, key: found.key }] : [];
  });
  if (keys.length === 0) return 0;
  tx.later(
    lockParcels(
      tx.tenantId,
      items.map(({ key }) => key),
    ),
  );
  const rows = await tx.query(storeAnnouncedKeys(tx, keys));
  return report(
    tx,
    rows.filter(({ otherId }) => otherId !== null),
    log,
    {
      message: 'A courier has two pre-alerts of one parcel.',
      fields: ({ id, otherId }) => ({ prealertId: id, otherId }),
      fact: ({ id, otherId }) => ({
        action: 'prealert.double_found',
        entity: 'prealert',
        entityId: id,
        after: { other_prealert_id: otherId },
      }),
    },
  );
}
