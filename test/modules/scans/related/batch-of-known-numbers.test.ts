import { expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withService } from '../../../support/fixture/with-service.js';
import { longestBlockMs } from '../../../support/harness/event-loop-block.js';
import { newFedex } from '../../../support/scans/fedex.js';
import { deviceScan, sendScans, type ScanResult } from '../../../support/scans/device-scans.js';

const { api, db } = withService();

const SCANS = 500;
const NUMBERS_PER_SCAN = 4;

const numbers = Array.from({ length: SCANS * NUMBERS_PER_SCAN }, () => newFedex());

const scansOf = (perScan: number) =>
  Array.from({ length: SCANS }, (_, n) => {
    const from = n * perScan;
    return deviceScan('hold', numbers.slice(from, from + perScan).join('\n'), 10, {});
  });

test('a batch of scans with several known numbers each costs no more than one of single numbers', async () => {
  await db.query(
    `insert into packages (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, house_number, weight_lb, warehouse_id)
     select $1, gen_random_uuid(), $2, 'IEX-1001', n, n, 'BATCH-' || n, 1, $3 from unnest($4::text[]) n`,
    [DEMO.tenants.demo, DEMO.couriers.IEX, DEMO.warehouses.primary, numbers],
  );
  const send = async (perScan: number) => {
    let results: ScanResult[] = [];
    const before = process.cpuUsage();
    const blockedMs = await longestBlockMs(async () => {
      results = (await sendScans(api, scansOf(perScan))).results;
    });
    const { user, system } = process.cpuUsage(before);
    const usedMs = (user + system) / 1000;
    return { blockedMs, usedMs, results: [...new Set(results.map(({ result }) => result))] };
  };
  const one = await send(1);
  const several = await send(NUMBERS_PER_SCAN);
  expect([one.results, several.results]).toEqual([['done'], ['refused']]);
  // Looking for each number among all records of the batch more than doubled the work.
  expect(several.usedMs).toBeLessThan(1.6 * one.usedMs);
  expect(several.blockedMs).toBeLessThan(50 + one.blockedMs);
}, 60_000);
