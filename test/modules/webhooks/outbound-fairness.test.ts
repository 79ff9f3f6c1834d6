import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { until } from '../../support/service/processes.js';
import {
  accept,
  hang,
  refuse,
  startReceiver,
  respondForever,
  type Receiver,
} from '../../support/receivers/receiver.js';
import { withService } from '../../support/fixture/with-service.js';
import { untilAdmitted } from '../../support/service/service.js';
import { setEndpoints } from '../../support/receivers/webhooks.js';

const HEALTHY = 50;
const EVENTS_EACH = rounds(4, 20);
/** More rounds last longer and are not heavier: other tests run beside this one. */
const PACE_MS = rounds(250, 1_000);
/** The limit from commit to arrival for 99 of 100 events of healthy receivers. */
const LIMIT_MS = 5_000;

// Before the service stops, so that its worker does not wait for their responses.
afterAll(() =>
  Promise.all([healthy, canary, ...Object.values(unhealthy)].map((receiver) => receiver.stop())),
);

const { api, db, service } = withService({ worker: true });
let healthy: Receiver;
let canary: Receiver;
const unhealthy: { [name: string]: Receiver } = {};

beforeAll(async () => {
  healthy = await startReceiver(accept);
  canary = await startReceiver(accept);
  unhealthy['hangs'] = await startReceiver(hang);
  unhealthy['responds 500'] = await startReceiver(refuse(500));
  unhealthy['never ends'] = await startReceiver(respondForever);
  unhealthy['redirects'] = await startReceiver((_request, response) =>
    response.writeHead(307, { location: `${canary.url}/inside` }).end(),
  );
  await service().tokenOf('warehouse');
});

test(`${HEALTHY} healthy receivers get 99 of 100 events within 5 s while others hang, fail, redirect or never end`, async () => {
  const couriers = await makeCouriers(HEALTHY + Object.keys(unhealthy).length);
  const { owner, app } = service();
  const receivers = [...Array<Receiver>(HEALTHY).fill(healthy), ...Object.values(unhealthy)];
  for (const [index, courierId] of couriers.entries())
    await setEndpoints({ owner, secrets: app.secrets }, { courierId, add: `${receivers[index]?.url}/add` });

  for (let round = 0; round < EVENTS_EACH; round += 1) {
    await Promise.all([sleep(PACE_MS), ...couriers.map((courier_id) => receive(courier_id))]);
  }
  await until(async () => healthy.received.length >= HEALTHY * EVENTS_EACH);
  const waits = await waitsMs();
  expect(waits).toHaveLength(HEALTHY * EVENTS_EACH);
  waits.sort((a, b) => a - b);
  const p99 = waits[Math.ceil(waits.length * 0.99) - 1] ?? Infinity;
  const p50 = waits[Math.floor(waits.length / 2)] ?? Infinity;
  process.stdout.write(`Commit to arrival: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms\n`);
  expect(p99).toBeLessThan(LIMIT_MS);

  const outcomes = (name: string) =>
    db.query<{ outcome: string; http_status: number | null }>(
      'select distinct outcome, http_status from webhook_attempts where courier_id = $1',
      [couriers[HEALTHY + Object.keys(unhealthy).indexOf(name)]],
    );
  await until(async () => (await outcomes('hangs')).length > 0);
  expect(await outcomes('hangs')).toEqual([{ outcome: 'timeout', http_status: null }]);
  expect(await outcomes('responds 500')).toEqual([{ outcome: 'rejected', http_status: 500 }]);
  expect(await outcomes('redirects')).toEqual([{ outcome: 'rejected', http_status: 307 }]);
  expect(await outcomes('never ends')).toEqual([{ outcome: 'delivered', http_status: 200 }]);
  expect(canary.received).toEqual([]);
}, 120_000);

async function makeCouriers(number: number): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `insert into couriers (tenant_id, id, code, name)
     select $1, gen_random_uuid(), 'FAIR' || n, 'Courier ' || n from generate_series(1, $2::int) n returning id`,
    [DEMO.tenants.demo, number],
  );
  return rows.map(({ id }) => id);
}

let scans = 0;
async function receive(courier_id: string): Promise<void> {
  const body = { tracking_number: `FAIR-${(scans += 1)}`, weight: 1, courier_id };
  const reply = await untilAdmitted(() => api.as('warehouse').receivePackage(body).answer());
  expect(reply.status).toBe(201);
}

/** Returns the times from commit to arrival. Test, service and PostgreSQL share one clock. */
async function waitsMs(): Promise<number[]> {
  const rows = await db.all('events');
  const began = new Map(rows.map(({ id, occurred_at }) => [id, occurred_at.getTime()]));
  return healthy.received.map(
    ({ headers, atMs }) => performance.timeOrigin + atMs - (began.get(headers['webhook-id'] ?? '') ?? 0),
  );
}
