import type { BulkTx, UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { lockParcels } from '../../../platform/db/locks.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { isHouseNumber } from '../../packages/public.js';
import { admitScans, type AdmittedScan } from './admit-scans.js';
import { executeParcels, type ParcelResult } from './execute-parcels.js';
import { groupByParcel } from './group-by-parcel.js';
import * as queries from './queries.js';
import {
  isAccepted,
  readScan,
  refuseTime,
  toRefusal,
  type ReadScan,
  type RefusedScan,
} from './read-scans.js';

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
  const read = items.map(readItem);
  if (read.every((each) => 'refusal' in each)) {
    await ctx.assertAdmitted();
    return read;
  }
  return ctx.preparedTransaction(async (tx) => {
    const [found, now] = await findHoused(ctx, tx, read);
    const timely = found.map((each) => refuseWrongTime(each, now));
    await tx.defer(lockParcels(ctx.tenantId, timely.flatMap(keysOf)));
    const admitted = await admitScans(ctx, tx, timely);
    const parcels = await executeParcels(ctx, tx, station, groupByParcel(admitted.filter(isAccepted)));
    return admitted.map((each) =>
      isAccepted(each) ? { scan: each, parcel: parcelOf(parcels, each) } : each,
    );
  });
}

/** A scan to execute, or one that is refused. */
type Received = ReadScan | RefusedScan;

function readItem(item: Items[number]): Received {
  if ('error' in item) return { scanId: scanIdOf(item.sent), refusal: toRefusal(item.error) };
  try {
    return readScan(item.value);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { scanId: item.value.scan_id, refusal: toRefusal(error) };
  }
}

function scanIdOf(sent: unknown): string | null {
  if (typeof sent !== 'object' || sent === null || !('scan_id' in sent)) return null;
  return typeof sent.scan_id === 'string' ? sent.scan_id : null;
}

const keysOf = (each: Received): string[] => ('refusal' in each ? [] : each.keys);

/** Gives scans of house numbers the key of their package, and returns the time of the database. */
async function findHoused(ctx: UserContext, tx: BulkTx, read: Received[]): Promise<[Received[], Date]> {
  const texts = read.flatMap((each) => ('refusal' in each || !isHouseNumber(each.number) ? [] : each.number));
  const [[time], rows] = await tx.queryAll([queries.serverTime(), queries.keysOfHouseNumbers(ctx, texts)]);
  const keys = new Map(rows.map((row) => [row.houseNumber, row.trackingKey]));
  const found = read.map((each): Received => {
    const key = 'refusal' in each ? undefined : keys.get(each.number);
    return key === undefined ? each : { ...each, keys: [key] };
  });
  return [found, new Date(time?.now ?? 0)];
}

function refuseWrongTime(each: Received, now: Date): Received {
  const refusal = 'refusal' in each ? undefined : refuseTime(each.scannedAt, now);
  return refusal && 'id' in each ? { scanId: each.id, refusal } : each;
}

function parcelOf(parcels: ParcelResult[], scan: AdmittedScan): ParcelResult {
  const parcel = parcels.find(({ reasons }) => reasons.has(scan.id));
  if (!parcel) throw new Error('A scan of the batch belongs to no parcel.');
  return parcel;
}
