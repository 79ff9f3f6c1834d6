import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../fixtures/demo/seed.js';
import { demoDatabase, type TestDatabase } from '../support/service/database.js';
import { logIn } from '../support/service/client.js';
import { endProcesses, startReplica } from '../support/service/processes.js';

const ROWS = 10_000;
const EXPORTS = 80;

let database: TestDatabase;

beforeAll(async () => {
  database = await demoDatabase();
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query('alter table packages disable trigger user');
  await owner.query(
    `insert into packages (tenant_id, id, courier_id, user_code, first_name, last_name, tracking_number, tracking_key,
       house_number, weight_lb, warehouse_id)
     select $1, gen_random_uuid(), $2, 'IEX-1001', 'First ' || n, 'Last ' || n, 'EXPORT-' || n, 'EXPORT-' || n, 'E-' || n,
       1.5, $3
     from generate_series(1, $4::int) n`,
    [DEMO.tenants.demo, DEMO.couriers.IEX, DEMO.warehouses.primary, ROWS],
  );
  await owner.query('analyze packages');
  await owner.end();
}, 120_000);

afterAll(async () => {
  await endProcesses();
  await database.drop();
});

test.each(['xlsx', 'csv'] as const)(
  `the memory that ${EXPORTS} exports of ${ROWS} rows as %s need does not grow with the next ${EXPORTS}`,
  async (format) => {
    const replica = await startReplica({ DATABASE_URL: database.ownerUrl });
    const token = await logIn(replica.url, 'admin');
    const peakOf = async (count: number): Promise<number> => {
      let peakKb = 0;
      for (let done = 0; done < count; done += 1) {
        const reply = await fetch(`${replica.url}/api/RetrievePackages.php`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ limit: ROWS, export: true, export_format: format }),
        });
        expect(reply.status).toBe(200);
        expect((await reply.arrayBuffer()).byteLength).toBeGreaterThan(ROWS * 50);
        peakKb = Math.max(peakKb, residentOf(replica.child.pid ?? 0));
      }
      return peakKb;
    };
    const first = await peakOf(EXPORTS);
    const second = await peakOf(EXPORTS);
    console.log(`${format}: ${Math.round(first / 1024)} MiB, then ${Math.round(second / 1024)} MiB`);
    expect(second).toBeLessThan(first * 1.15);
  },
  300_000,
);

const residentOf = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
