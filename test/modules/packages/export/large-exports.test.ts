import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { makeWorkbookWriters } from '../../../../src/platform/files/spreadsheet/write-workbook.js';
import { insertWithoutTriggers } from '../../../support/builders/many-rows.js';
import type { Answer } from '../../../support/fixture/pending-call.js';
import { withService } from '../../../support/fixture/with-service.js';
import { rounds } from '../../../support/harness/effort.js';
import { longestBlockMs } from '../../../support/harness/event-loop-block.js';
import { readWorkbook } from '../../../support/readers/workbook.js';
import { askSteadily } from '../../../support/service/client.js';
import { until } from '../../../support/service/processes.js';
import { untilAdmitted } from '../../../support/service/service.js';
import { exportPackages, FORMATS, type Format } from './export-calls.js';

const { api, db, service } = withService();

const exported = (format: Format, filters: object = {}) => exportPackages(api, 'admin', format, filters);

describe('export of 10,000 rows', () => {
  beforeAll(async () => {
    await insertWithoutTriggers(
      service().owner,
      `insert into packages (tenant_id, id, courier_id, user_code, first_name, last_name, tracking_number, tracking_key,
         house_number, weight_lb, shipper, warehouse_id, received_at)
       select $1, gen_random_uuid(), $2, 'IEX-1001', 'Marcia', 'Campbell', '94001118992231' || n, 'bulk' || n, 'B' || n,
         1 + n % 4000 / 100.0, 'Example Books', $3, '2021-01-01T00:00:00Z'::timestamptz + n * interval '1 second'
       from generate_series(1, 10000) n`,
      [DEMO.tenants.demo, DEMO.couriers.IEX, DEMO.warehouses.primary],
    );
    await db.query('analyze packages');
  }, 60_000);

  const AT_ONCE = rounds(2, 10);
  const BULK = { limit: 10_000, entryDateFloor: '2021-01-01', entryDateCeiling: '2021-01-02' };

  test.each(FORMATS)(
    'is complete and in order as %s',
    async (format) => {
      const { bytes } = await exported(format, BULK).ok();
      if (format === 'csv') {
        const lines = bytes.toString().split('\r\n');
        expect(lines).toHaveLength(10_002);
        expect([lines[1], lines[10_000]].map((line) => line?.split(',')[2])).toEqual([
          '9400111899223110000',
          '940011189922311',
        ]);
      } else {
        expect(bytes.length).toBeGreaterThan(500_000);
        const rows = readWorkbook(bytes);
        expect(rows).toHaveLength(10_001);
        expect([rows[1]?.[2]?.value, rows[10_000]?.[2]?.value]).toEqual([
          '9400111899223110000',
          '940011189922311',
        ]);
      }
    },
    60_000,
  );

  test.each(FORMATS)(
    `keeps the service responsive during ${AT_ONCE} simultaneous %s exports`,
    async (format) => {
      await service().tokenOf('admin');
      let isOver = false;
      const health = async () => {
        const startMs = performance.now();
        expect(await api.anonymous.getHealth().status()).toBe(200);
        return performance.now() - startMs;
      };
      // What other load on this machine makes of a request.
      const alone = await Promise.all(Array.from({ length: 50 }, health));
      const waits: number[] = [];
      const polling = askSteadily(
        50,
        () => isOver,
        async () => {
          waits.push(await health());
        },
      );
      const sizes: number[] = [];
      // Counts only work of this thread, including the test's own reading of the files, and no other load.
      const blockedMs = await longestBlockMs(async () => {
        const exports = Array.from({ length: AT_ONCE }, async () => {
          const { status, bytes } = await untilAdmitted(() => exported(format, BULK).answer());
          expect(status).toBe(200);
          sizes.push(bytes.length);
        });
        await Promise.all(exports);
      });
      isOver = true;
      await polling;
      expect(sizes).toHaveLength(AT_ONCE);
      expect(Math.min(...sizes)).toBeGreaterThan(500_000);
      expect(blockedMs).toBeLessThan(200);
      expect(Math.max(...waits)).toBeLessThan(1_500 + 20 * Math.max(...alone));
    },
    120_000,
  );

  test('responds to each of 40 simultaneous exports with a file or with 503 and Retry-After, and serves later ones', async () => {
    const refused: Answer<'listPackages'>[] = [];
    // Keeps the first exports running until all have arrived.
    const holder = await service().owner.connect();
    try {
      await holder.query('begin; lock table packages in access exclusive mode');
      const replies = Array.from({ length: 40 }, async () => {
        const reply = await exported('xlsx').answer();
        if (reply.status === 503) refused.push(reply);
        return reply.status;
      });
      // One export of the user runs and 32 wait.
      await until(async () => refused.length >= 7);
      await holder.query('rollback');
      const served = (await Promise.all(replies)).filter((status) => status === 200);
      expect(served.length).toBeGreaterThanOrEqual(2);
      expect(served).toHaveLength(40 - refused.length);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    for (const { code, headers } of refused) {
      expect(code).toBe('overloaded');
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await exported('xlsx').ok();
  }, 60_000);
});

test('the workbook writer survives a workbook that cannot be written', async () => {
  const writeWorkbook = makeWorkbookWriters()('Packages');
  // Longer than a cell may be.
  await expect(writeWorkbook([], [1], () => ['x'.repeat(40_000)])).rejects.toThrow(/32767/);
  const books = await Promise.all(
    ['a', 'b', 'c'].map((text) => writeWorkbook(['Text'], [text], (cell) => [cell])),
  );
  expect(books.map((bytes) => readWorkbook(bytes)[1]?.[0]?.value)).toEqual(['a', 'b', 'c']);
  expect(readWorkbook(await writeWorkbook(['Text'], [], () => []))).toHaveLength(1);
});
