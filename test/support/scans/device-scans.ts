import { randomUUID } from 'node:crypto';
import type { Reply, Service } from '../service/service.js';

/** A scan as a device sends it. */
export type DeviceScan = {
  scan_id: string;
  scanned_at: string;
  kind: string;
  scan: string;
  [field: string]: unknown;
};

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

/** Sends scans. Returns the data of the response, which must be 200. */
export async function sendScans(
  service: Service,
  scans: unknown[],
  { as = 'warehouse', station = 'Dock 1' } = {},
): Promise<Reply['body']> {
  const { status, body } = await service.call('sendScans', { as, body: { station, scans } });
  if (status !== 200) throw new Error(`sendScans responded with ${status}: ${JSON.stringify(body)}`);
  return body['data'];
}
