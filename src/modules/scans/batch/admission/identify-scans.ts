import { pauseWhenDue } from '../../../../platform/concurrency/pause-when-due.js';
import type { RowsOf } from '../../../../platform/db/statements.js';
import type { UserScope } from '../../../../platform/db/scope.js';
import {
  indexKnown,
  indexNamesakes,
  needsRecords,
  selectKnown,
  selectNamesakes,
  type KnownRow,
} from '../../../packages/public.js';
import {
  identifyScan,
  isAccepted,
  refuseTime,
  type ReadScan,
  type RefusedScan,
  type SentItem,
} from '../messages/read-scans.js';
import { scansById, serverTime } from '../stored/queries.js';

/** Scans for one transaction, and all of their batch. */
export type Piece = { scans: SentItem[]; all: SentItem[] };

/** The scans, and the keys of their parcels. */
export type Identified = { scans: (ReadScan | RefusedScan)[]; keys: string[] };

/** The statements that tell the parcels of scans. */
export function selectRecords(ctx: UserScope, sent: SentItem[]) {
  const readings = sent.map(({ reading }) => reading).filter(needsRecords);
  const ids = sent.map(({ id }) => id);
  return [
    serverTime(),
    scansById(ctx, ids),
    selectKnown(ctx, readings),
    selectNamesakes(ctx, readings),
  ] as const;
}

type Records = RowsOf<ReturnType<typeof selectRecords>>;

/** Refuses scans with a wrong time, and tells the parcels of the others. */
export async function identifyScans(
  { scans: sent, all }: Piece,
  [[time], stored, known, namesakes]: Records,
): Promise<Identified> {
  const now = new Date(time?.now ?? 0);
  const knownOf = indexKnown(known);
  const namesakesOf = indexNamesakes(namesakes);
  const expectedOf = indexKnown(receivedIn(all.filter(({ scannedAt }) => !refuseTime(scannedAt, now))));
  const storedKeys = new Map(stored.map(({ id, parcelKey }) => [id, parcelKey]));
  const scans: (ReadScan | RefusedScan)[] = [];
  for (const item of sent) {
    await pauseWhenDue();
    // A stored scan keeps its result, also if it has become too old since.
    const refusal = storedKeys.has(item.id) ? undefined : refuseTime(item.scannedAt, now);
    if (refusal) {
      scans.push({ scanId: item.id, refusal });
      continue;
    }
    const { reading } = item;
    const records = {
      known: knownOf(reading),
      namesakes: namesakesOf(reading),
      expected: expectedOf(reading),
    };
    scans.push(identifyScan(item, records, needsRecords(reading) ? storedKeys.get(item.id) : undefined));
  }
  // A repeated scan is also of the parcel that it is stored with: the number of the package may have been corrected since.
  return { scans, keys: [...storedKeys.values(), ...scans.filter(isAccepted).flatMap(({ keys }) => keys)] };
}

/** Returns the numbers that the batch receives: they are known for its other scans, as if these were sent later. */
const receivedIn = (items: SentItem[]): KnownRow[] =>
  items.flatMap(({ kind, reading: { numbers } }) => {
    const [number, another] = numbers;
    if (kind !== 'receive' || !number || another) return [];
    return [{ trackingKey: number.key, trackingNumber: null, packageId: null, houseNumber: null }];
  });
