import { randomUUID } from 'node:crypto';
import { unchecked } from '../fixture/sent.js';
import type { Api } from '../fixture/api.js';
import type { DataOf } from '../fixture/pending-call.js';

/** A scan as a device sends it. */
export type DeviceScan = {
  scan_id: string;
  scanned_at: string;
  kind: string;
  scan: string;
  [field: string]: unknown;
};

export type SentScans = DataOf<'sendScans'>;
export type ScanResult = SentScans['results'][number];
type Parcel = NonNullable<ScanResult['parcel']>;

/** The time of a scan, `secondsAgo` before now, as the contract has it. */
export const scanTime = (secondsAgo: number): string =>
  new Date(Date.now() - secondsAgo * 1_000).toISOString().slice(0, 23).replace('T', ' ');

export const deviceScan = (
  kind: string,
  scan: string,
  secondsAgo: number,
  fields: object = {},
): DeviceScan => ({
  scan_id: randomUUID(),
  scanned_at: scanTime(secondsAgo),
  kind,
  scan,
  ...fields,
});

/** A scan that receives a parcel of 2.5 lb. */
export const receiptScan = (number: string, secondsAgo: number, fields: object = {}): DeviceScan =>
  deviceScan('receive', number, secondsAgo, { weight: 2.5, ...fields });

let serial = 0;
/** Returns a number that no other test of this process uses. No format and no check digit fits, and it is not like a house number. */
export const newScanNumber = (name: string): string => `${name}-${(serial += 1)}-0O1IL`;

/** Sends scans, also those that the contract refuses. Expects 200, and returns the data of the response. */
export async function sendScans(
  api: Api,
  scans: unknown[],
  { as = 'warehouse', station = 'Dock 1' } = {},
): Promise<SentScans> {
  return (await api.as(as).sendScans(unchecked({ station, scans })).ok()).data;
}

/** Sends one scan of the warehouse and returns its result. */
export async function sendScan(api: Api, scan: unknown): Promise<ScanResult> {
  const [result] = (await sendScans(api, [scan])).results;
  if (!result) throw new Error('The response has no result of the scan.');
  return result;
}

/** Returns the parcel that a scan has received. @throws if the scan was refused or its parcel is not received */
export function receivedParcel(
  result: ScanResult | undefined,
): Parcel & { package_id: string; house_number: string } {
  const { package_id = null, house_number = null } = result?.parcel ?? {};
  if (!result?.parcel || package_id === null || house_number === null)
    throw new Error(`The scan has received no parcel: ${JSON.stringify(result)}`);
  return { ...result.parcel, package_id, house_number };
}
