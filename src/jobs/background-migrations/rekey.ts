import { lockParcels } from '../../platform/db/locks.js';
import type { SystemTx } from '../../platform/db/scope.js';
import type { Logger } from 'pino';
import { readScan } from '../../modules/tracking-numbers/public.js';
import { addAnnouncedKeys } from './announced-keys.js';
import { receiveAnnouncedLabels } from './announced-labels.js';
import { report } from './report.js';
import { repairRenamedPrealerts } from './renamed-prealerts.js';
import * as queries from './rekey-queries.js';
import type { KeyChange } from './rekey-queries.js';

/** A row of a batch whose key the worker computes: its number, and the key that it has. */
export type Item = { id: string; number: string; key: string };

/** Executes the computed part of a batch. Returns the number of rows that people must look at. */
export type Step = (tx: SystemTx, items: Item[], log: Pick<Logger, 'warn'>) => Promise<number>;

/** The steps that background.sql can name. */
export const STEPS: Record<string, Step> = {
  'package keys': rekeyPackages,
  'pre-alert keys': withChanges(async (tx, changes) => {
    await tx.count(queries.changePrealertKeys(tx, changes));
    return 0;
  }),
  'flag keys': withChanges(async (tx, changes) => {
    await tx.count(queries.addFlagKeys(tx, changes));
    return 0;
  }),
  'scan keys': withChanges(async (tx, changes) => {
    await tx.count(queries.changeScanKeys(tx, changes));
    await tx.count(queries.changePositionKeys(tx, changes));
    return 0;
  }),
  'announced labels': receiveAnnouncedLabels,
  'renamed pre-alerts': repairRenamedPrealerts,
  'announced keys': addAnnouncedKeys,
};

function rekeyPackages(...[tx, items, log]: Parameters<Step>): Promise<number> {
  const rekey = withChanges(async (_tx, changes) => {
    const rows = await tx.query(queries.changePackageKeys(tx, changes));
    return report(
      tx,
      rows.filter(({ otherId }) => otherId !== null),
      log,
      {
        message: 'Two packages have the same tracking number.',
        fields: ({ id, otherId }) => ({ packageId: id, otherId }),
        // One parcel was received twice. They are not merged, because both can be billed, on a manifest or delivered. Each keeps its own key.
        fact: ({ id, otherId }) => ({
          action: 'package.double_found',
          entity: 'package',
          entityId: id,
          after: { other_package_id: otherId },
        }),
      },
    );
  });
  return rekey(tx, items, log);
}

type Change = (tx: SystemTx, changes: KeyChange[]) => Promise<number>;

/** Computes the new keys. The rows of both keys are locked, as every other writer locks them. */
function withChanges(change: Change): Step {
  return async (tx, items) => {
    const changes = items.flatMap((item) => newKeyOf(item));
    if (changes.length === 0) return 0;
    await tx.query(
      lockParcels(
        tx.tenantId,
        changes.flatMap(({ key, newKey }) => [key, newKey]),
      ),
    );
    return change(tx, changes);
  };
}

/** A text that is no number, or has several, keeps its key: scans of the same text still find it. */
function newKeyOf({ id, number, key }: Item): KeyChange[] {
  const [found, another] = readScan(number).numbers;
  return found && !another && found.key !== key ? [{ id, key, newKey: found.key }] : [];
}
