import { expect, test } from '@jest/globals';
import { deviceScan, sendScans, type DeviceScan } from '../../../support/scans/device-scans.js';
import { rounds } from '../../../support/harness/effort.js';
import { makeManifests } from '../../../support/manifests/manifest-calls.js';
import { withService } from '../../../support/fixture/with-service.js';

const SCANS = rounds(500, 10_000);
const BATCH = 500;
const LIMIT_MS = 60_000;

const { api } = withService();

/** Three scans of each parcel: its receipt, its place, and its load. Of every tenth also a hold. */
function offlineDay(manifest_id: string): DeviceScan[] {
  const scans: DeviceScan[] = [];
  for (let parcel = 0; scans.length < SCANS; parcel += 1) {
    const number = `OFFLINE-${parcel}-0O1IL`;
    const secondsAgo = 30_000 - parcel;
    scans.push(
      deviceScan('receive', number, secondsAgo, {
        weight: 1 + (parcel % 50) / 10,
        length: 10,
        width: 8,
        height: 4,
      }),
      deviceScan('locate', number, secondsAgo - 100, { location: `Shelf ${parcel % 40}` }),
      deviceScan('load', number, secondsAgo - 10_000, { manifest_id }),
    );
    if (parcel % 10 === 0) scans.push(deviceScan('hold', number, secondsAgo - 50));
  }
  return scans.slice(0, SCANS);
}

test(
  `${SCANS} scans of an offline day arrive within a minute, and their repetition changes nothing`,
  async () => {
    const day = offlineDay((await makeManifests(api).ready()).id);
    const sendDay = async () => {
      const counts = { done: 0, conflict: 0, repeated: 0, refused: 0 };
      for (let from = 0; from < day.length; from += BATCH) {
        const sent = await sendScans(api, day.slice(from, from + BATCH));
        for (const name of ['done', 'conflict', 'repeated', 'refused'] as const) counts[name] += sent[name];
      }
      return counts;
    };
    const startedMs = Date.now();
    const first = await sendDay();
    const tookMs = Date.now() - startedMs;
    expect(first.done + first.conflict).toBe(SCANS);
    expect(tookMs).toBeLessThan(LIMIT_MS);
    expect(await sendDay()).toEqual({ done: 0, conflict: 0, repeated: SCANS, refused: 0 });
  },
  3 * LIMIT_MS,
);
