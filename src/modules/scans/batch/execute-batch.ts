import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { makePauseWhenDue } from '../../../platform/concurrency/pause-when-due.js';
import { keepUserCodes } from '../../../platform/db/locks.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { UserTx } from '../../../platform/db/scope.js';
import {
  indexKnown,
  indexNamesakes,
  lockIdentified,
  needsRecords,
  selectKnown,
  selectNamesakes,
  type KnownRow,
} from '../../packages/public.js';
import { admitScans, type AdmittedScan } from './admit-scans.js';
import { executeParcels, type ParcelResult } from './execute-parcels.js';
import { divideScans } from './batch-parcels.js';
import * as queries from './queries.js';
import {
  identifyScan,
  isAccepted,
  readSentScan,
  refuseTime,
  toRefusal,
  type ReadScan,
  type RefusedScan,
  type SentItem,
} from './messages/read-scans.js';

type Items = BodyOf<'sendScans'>['scans'];

/** A scan that is stored, and the state of its parcel. */
export type ExecutedScan = { scan: AdmittedScan; parcel: ParcelResult };

/**
 * Executes scans, each at most once, in one transaction. Returns the results in the order of the scans. A scan that is refused
 * does not affect the others. See decision 0061.
 */
export async function executeBatch(
  ctx: UserContext,
  station: string,
  items: Items,
): Promise<(RefusedScan | ExecutedScan)[]> {
  const read = await readItems(items);
  if (read.every((each) => 'refusal' in each)) return read;
  return ctx.write(async (tx) => {
    const userCodes = read.filter(isAccepted).flatMap(({ details }) => details.user_code ?? []);
    if (userCodes.length > 0) tx.later(keepUserCodes(ctx.tenantId, userCodes));
    const identified = await lockIdentified(tx, () => identifyScans(tx, read));
    const admitted = await admitScans(tx, identified.scans);
    const { parts, refused } = await divideScans(tx, admitted.filter(isAccepted));
    const parcels: ParcelResult[] = [];
    for (const part of parts) parcels.push(...(await executeParcels(tx, station, part)));
    return admitted.map((each) => {
      if (!isAccepted(each)) return each;
      const refusal = refused.get(each.id);
      return refusal ? { scanId: each.id, refusal } : { scan: each, parcel: parcelOf(parcels, each) };
    });
  });
}

async function readItems(items: Items): Promise<(SentItem | RefusedScan)[]> {
  const pauseWhenDue = makePauseWhenDue();
  const read: (SentItem | RefusedScan)[] = [];
  for (const item of items) {
    await pauseWhenDue();
    read.push(readItem(item));
  }
  return read;
}

function readItem(item: Items[number]): SentItem | RefusedScan {
  if ('error' in item) return { scanId: scanIdOf(item.sent), refusal: toRefusal(item.error) };
  try {
    return readSentScan(item.value);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { scanId: item.value.scan_id, refusal: toRefusal(error) };
  }
}

function scanIdOf(sent: unknown): string | null {
  if (typeof sent !== 'object' || sent === null || !('scan_id' in sent)) return null;
  return typeof sent.scan_id === 'string' ? sent.scan_id : null;
}

/** The scans, and the keys of their parcels. */
type Identified = { scans: (ReadScan | RefusedScan)[]; keys: string[] };

/** Refuses scans with a wrong time, and finds the parcels of the others. */
async function identifyScans(tx: UserTx, read: (SentItem | RefusedScan)[]): Promise<Identified> {
  const accepted = read.filter(isAccepted);
  const readings = accepted.map(({ reading }) => reading).filter(needsRecords);
  const [[time], stored, known, namesakes] = await tx.query([
    queries.serverTime(),
    queries.scansById(
      tx,
      accepted.map(({ id }) => id),
    ),
    selectKnown(tx, readings),
    selectNamesakes(tx, readings),
  ]);
  const now = new Date(time?.now ?? 0);
  const timely = read.map((each) => refuseWrongTime(each, now));
  const knownOf = indexKnown(known);
  const namesakesOf = indexNamesakes(namesakes);
  const expectedOf = indexKnown(receivedIn(timely.filter(isAccepted)));
  const pauseWhenDue = makePauseWhenDue();
  const storedKeys = new Map(stored.map(({ id, parcelKey }) => [id, parcelKey]));
  const scans: (ReadScan | RefusedScan)[] = [];
  for (const item of timely) {
    await pauseWhenDue();
    if (!isAccepted(item)) {
      scans.push(item);
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

function refuseWrongTime(each: SentItem | RefusedScan, now: Date): SentItem | RefusedScan {
  const refusal = isAccepted(each) ? refuseTime(each.scannedAt, now) : undefined;
  return refusal && isAccepted(each) ? { scanId: each.id, refusal } : each;
}

function parcelOf(parcels: ParcelResult[], scan: AdmittedScan): ParcelResult {
  // A stored scan of a parcel with more scans than are folded has no reason of this fold.
  const parcel =
    parcels.find(({ reasons }) => reasons.has(scan.id)) ??
    parcels.find(({ keys }) => scan.keys.some((key) => keys.includes(key)));
  if (!parcel) throw new Error('A scan of the batch belongs to no parcel.');
  return parcel;
}
