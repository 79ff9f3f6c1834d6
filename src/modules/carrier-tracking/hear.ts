import type { SystemTx } from '../../platform/db/scope.js';
import { readScan } from '../tracking-numbers/public.js';
import type { CarrierEvent } from './carrier-event.js';
import { prealertsWithKeys, storeEvent, type KeysOfPrealert } from './queries.js';

/** The number of a parcel: the key under which rows are stored, and all keys that it can have. */
type Parcel = { key: string; keys: string[] };

/** Returns the parcel that an event is about, or undefined if its number is none, or several. */
export function parcelOf({ number }: CarrierEvent): Parcel | undefined {
  const [parcel, another] = readScan(number).numbers;
  return parcel && !another ? { key: parcel.key, keys: parcel.keys } : undefined;
}

/**
 * Stores what a carrier says about a parcel of a courier, unless something later is known. Nothing else changes: neither a pre-alert nor a package.
 *
 * @returns whether it was stored
 */
export async function hearOfParcel(
  tx: SystemTx,
  courierId: string,
  parcel: Parcel,
  event: CarrierEvent,
): Promise<boolean> {
  const prealerts = await tx.query(prealertsWithKeys(tx, courierId, parcel.keys));
  const stored = await tx.query(storeEvent(tx, courierId, keysToStore(parcel, prealerts), event));
  return stored.length > 0;
}

/**
 * The number's own key, and those of the pre-alert that it means. A short number can be the end of several longer ones: if none has the number
 * itself and several can be meant, none is.
 */
function keysToStore({ key, keys }: Parcel, prealerts: readonly KeysOfPrealert[]): string[] {
  const own = prealerts.filter(
    ({ announcedKey, trackingKey }) => announcedKey === key || trackingKey === key,
  );
  const meant = own.length > 0 ? own : prealerts.length === 1 ? prealerts : [];
  const known = meant.flatMap(({ announcedKey, trackingKey }) => [announcedKey, trackingKey]);
  const ofParcel = known.flatMap((each) => (each !== null && keys.includes(each) ? [each] : []));
  return [...new Set([key, ...ofParcel])];
}
