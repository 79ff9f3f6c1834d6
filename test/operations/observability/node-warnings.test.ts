import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertWithoutTriggers } from '../../support/builders/many-rows.js';
import { startReceiver, type Receiver } from '../../support/receivers/receiver.js';
import { logIn } from '../../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../../support/service/database.js';
import { endProcesses, freePort, startReplica, type Replica } from '../../support/service/processes.js';

// Node prints a warning with its stack for each response that gets more than ten listeners: a line of stderr, and CPU time, per request.

const LARGE_BYTES = 64 * 1024;

let database: TestDatabase;
let owner: pg.Pool;
let collector: Receiver;
let replica: Replica;

beforeAll(async () => {
  database = await demoDatabase();
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 2 });
  await insertWithoutTriggers(
    owner,
    `insert into packages (tenant_id, id, courier_id, tracking_number, tracking_key, house_number, weight_lb, warehouse_id)
     select $1, new_id(), $2, 'WARN' || n, 'WARN' || n, 'WARN' || n, 1, $3 from generate_series(1, 500) n`,
    [DEMO.tenants.demo, DEMO.couriers.IEX, DEMO.warehouses.primary],
  );
  collector = await startReceiver();
  // Everything that watches a response.
  replica = await startReplica({
    DATABASE_URL: database.ownerUrl,
    METRICS_PORT: String(await freePort()),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: 'always_on',
    LOG_LEVEL: 'info',
  });
}, 60_000);

afterAll(async () => {
  await endProcesses();
  await collector.stop();
  await owner.end();
  await database.drop();
});

test('a large response makes Node warn of nothing', async () => {
  const token = await logIn(replica.url, 'iex');
  const response = await fetch(`${replica.url}/api/RetrievePackages.php`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ limit: 500 }),
  });
  expect(response.status).toBe(200);
  expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(LARGE_BYTES);
  await replica.stop();
  expect(replica.output()).toContain('request completed');
  expect(replica.output()).not.toContain('Warning');
});
