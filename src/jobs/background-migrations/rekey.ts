import { audit } from '../../platform/audit/audit.js';
import { lockParcels } from '../../platform/db/locks.js';
import type { SystemTx } from '../../platform/db/scope.js';
import type { Logger } from 'pino';
import { readScan } from '../../modules/tracking-numbers/public.js';
import { receiveAnnouncedLabels } from './announced-labels.js';
import { repairRenamedPrealerts } from './renamed-prealerts.js';
import * as queries from './rekey-queries.js';
import type { KeyChange, KeyRow } from './rekey-queries.js';

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
};

function rekeyPackages(...[tx, items, log]: Parameters<Step>): Promise<number> {
  const rekey = withChanges(async (_tx, changes) => {
    const rows = await tx.query(queries.changePackageKeys(tx, changes));
    return reportDoubles(tx, rows, log);
  });
  return rekey(tx, items, log);
}

/**
 * Reports packages whose number another package has too: one parcel was received twice. They are not merged, because both can
 * be billed, on a manifest or delivered. Each keeps its own key.
 */
async function reportDoubles(tx: SystemTx, rows: KeyRow[], log: Pick<Logger, 'warn'>): Promise<number> {
  const doubles = rows.flatMap(({ id, otherId }) => (otherId === null ? [] : { id, otherId }));
  for (const { id, otherId } of doubles)
    log.warn(
      { tenantId: tx.tenantId, packageId: id, otherId },
      'Two packages have the same tracking number.',
    );
  if (doubles.length > 0)
    tx.later(
      audit(
        tx,
        ...doubles.map(({ id, otherId }) => ({
          action: 'package.double_found',
          entity: 'package' as const,
          entityId: id,
          after: { other_package_id: otherId },
        })),
      ),
    );
  return doubles.length;
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
