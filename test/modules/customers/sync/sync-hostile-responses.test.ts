import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readSyncResponse } from '../../../../src/modules/customers/sync/sync-response.js';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import {
  answerWith,
  startSyncRig,
  type Sent,
  type SyncRig,
} from '../../../support/builders/customer-sync.js';
import { rounds } from '../../../support/harness/effort.js';
import { longestBlockMs } from '../../../support/harness/event-loop-block.js';
import { withService } from '../../../support/fixture/with-service.js';
import { REFUSED, ACCEPTED, MIB } from './hostile-responses.js';

const { service } = withService();
beforeAll(async () => {
  rig = await startSyncRig(service());
}, 60_000);
afterAll(async () => {
  await rig.stop();
});
let rig: SyncRig;

/** Returns a text that depends on all customers but HOSTILE-1. */
async function otherCustomers(): Promise<unknown> {
  const { rows } = await service().owner.query(
    `select count(*), md5(string_agg(c::text, ',' order by id)) from customers c where user_code <> 'HOSTILE-1'`,
  );
  return rows[0];
}

async function hostileCustomers(): Promise<Record<string, unknown>[]> {
  const { rows } = await service().owner.query("select * from customers where user_code = 'HOSTILE-1'");
  return rows;
}

test('of the object around a list, only what it says of pages is handed over', () => {
  const customer = '{"user_code":"A","first_name":"B","last_name":"C"}';
  const fields = `"meta":{"total":7,"deep":{"k1":[${'{"planted":1},'.repeat(1_000)}{}]}}`;
  const result = readSyncResponse(Buffer.from(`{${fields},"data":[${customer}]}`));
  expect(result).toMatchObject({ isWrapped: true, statesMore: '1 records of total 7' });
  expect(JSON.stringify(result)).not.toContain('planted');
  expect(readSyncResponse(Buffer.from(`[${customer}]`))).toMatchObject({
    isWrapped: false,
    statesMore: null,
  });
});

test('covers more than a hundred hostile responses', () => {
  expect(REFUSED.length + ACCEPTED.length).toBeGreaterThan(100);
});

describe('hostile responses of a sync target', () => {
  let longestMs = 0;
  let reading: Record<string, unknown> = {};

  // The log of all runs would grow with each response, and each test reads it.
  beforeEach(() => service().owner.query('delete from customer_sync_runs'));

  const read = async (sent: Sent) => {
    longestMs = Math.max(longestMs, await longestBlockMs(async () => (reading = await rig.sync(sent))));
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
    return reading;
  };

  test.each(REFUSED)(
    'fails with an error message and stores nothing for %s',
    async (_title, sent, words) => {
      const before = [await otherCustomers(), await hostileCustomers()];
      const run = await read(sent);
      expect(run).toMatchObject({ status: 'failed', http_status: 200, error: expect.stringMatching(words) });
      expect(String(run['error']).length).toBeLessThan(300);
      expect([await otherCustomers(), await hostileCustomers()]).toEqual(before);
    },
    60_000,
  );

  test.each(ACCEPTED)(
    'processes %s without harm',
    async (_title, sent, counts) => {
      await service().owner.query("delete from customers where user_code like 'HOSTILE-%'");
      const before = await otherCustomers();
      const run = await read(sent);
      const { received, created, updated, unchanged, skipped } = run as Record<string, number>;
      const isAllSkipped = received !== 0 && skipped === received;
      expect(run).toMatchObject({ status: isAllSkipped ? 'failed' : 'succeeded', ...counts });
      expect([created, updated, unchanged, skipped].reduce((sum = 0, count = 0) => sum + count, 0)).toBe(
        received,
      );
      expect(await otherCustomers()).toEqual(before);
      const stored = await hostileCustomers();
      expect(stored).toHaveLength('created' in counts ? 1 : 0);
      if (run['created'] === 1) expect(stored[0]).toMatchObject({ courier_id: DEMO.couriers.IEX });
    },
    60_000,
  );

  test('does not block the event loop for long', () => {
    expect(longestMs).toBeGreaterThan(0);
    expect(longestMs).toBeLessThan(200);
  });
});

const VALID_RECORDS = rounds(2_000, 30_000);

describe(`sync of ${VALID_RECORDS} valid records`, () => {
  const recordsOf = (length: number) =>
    Buffer.from(
      JSON.stringify(
        Array.from({ length }, (_, n) => ({
          user_code: `LOAD-${n}`,
          // Few different names, because another test covers the cost of the search index.
          first_name: `Fírst${n % 50}`,
          last_name: `Last-${n % 7}`,
          branch: `Branch ${n % 9}`,
          email: `c${n}@mail.example`,
          is_active: n % 10 ? 1 : 0,
          notes: 'a field that nobody reads',
        })),
      ),
    );

  test('creates them, then leaves them unchanged, blocks the event loop for less than 200 ms and uses bounded memory', async () => {
    const own = await startSyncRig(service(), 300_000, 0);
    const before = process.memoryUsage().rss;
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20);
    own.receiver.answer = answerWith(recordsOf(VALID_RECORDS));
    const runs: Record<string, unknown>[] = [];
    const blockedMs = await longestBlockMs(async () => {
      runs.push(await own.sync(), await own.sync());
    });
    await own.stop();
    clearInterval(watch);
    expect(runs).toMatchObject([
      { received: VALID_RECORDS, created: VALID_RECORDS, skipped: 0 },
      { received: VALID_RECORDS, created: 0, updated: 0, unchanged: VALID_RECORDS },
    ]);
    // For comparison: parsing the largest response without the worker thread.
    const largest = recordsOf(100_000);
    expect(await longestBlockMs(async () => readSyncResponse(largest))).toBeGreaterThan(100);
    expect(blockedMs).toBeLessThan(200);
    expect(peak - before).toBeLessThan(384 * MIB);
  }, 300_000);
});
