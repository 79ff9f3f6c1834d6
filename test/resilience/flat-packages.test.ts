import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../fixtures/demo/seed.js';
import { rounds } from '../support/harness/effort.js';
import { startRegionReceiver, type RegionReceiver } from '../support/receivers/region-receiver.js';
import { endProcesses, run, until, type Running } from '../support/service/processes.js';
import { startService, untilAdmitted, type Service } from '../support/service/service.js';

const PACKAGES = rounds(100, 10_000);
/** The receiver and the worker are each restarted this often while packages arrive. */
const RESTARTS = rounds(1, 10);
const SCANNERS = 4;
const TOKEN = 'a-token-of-the-region';
const LIMIT_MS = rounds(120_000, 1_800_000);
/** After SIGKILL, claimed deliveries are sent again after half a minute. The default run has no time for that. */
const SIGNAL: NodeJS.Signals = rounds(0, 1) === 1 ? 'SIGKILL' : 'SIGTERM';

let service: Service;
let receiver: RegionReceiver;
let worker: Running;
const outputs: string[] = [];

beforeAll(async () => {
  service = await startService({ env: { OUTBOUND_ALLOW_LOOPBACK: 'true' } });
  receiver = await startRegionReceiver({ token: TOKEN, failEvery: 20, loseEvery: 33 });
  const body = {
    api_url_add_package: `${receiver.url}/add`,
    api_url_update_package: `${receiver.url}/update`,
    add_package_format: 'flat',
    update_package_format: 'flat',
    api_token: TOKEN,
  };
  expect((await service.call('updateCourierSettings', { as: 'iex', body })).status).toBe(200);
  worker = startWorker();
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await receiver.close();
  await service.stop();
}, LIMIT_MS);

const startWorker = () =>
  run('src/worker.js', {
    DATABASE_URL: String(service.owner.options.connectionString),
    LOG_LEVEL: 'trace',
    OUTBOUND_ALLOW_LOOPBACK: 'true',
    OUTBOUND_REQUESTS_PER_SECOND: '100000',
    WORKER_HEARTBEAT_SECONDS: '2',
    // A receiver that is restarted or busy must not use up the attempts.
    WEBHOOK_RETRY_SECONDS: Array(60).fill('1').join(','),
  });

async function restartWorker(): Promise<void> {
  worker.child.kill(SIGNAL);
  await worker.ended;
  outputs.push(worker.output());
  worker = startWorker();
}

async function restartReceiver(): Promise<void> {
  await receiver.close();
  await sleep(1_000);
  await receiver.open();
}

test(
  `a receiver of the region accepts ${PACKAGES} packages, ${RESTARTS} restarts of it and of the worker included`,
  async () => {
    const startedMs = performance.now();
    const received: string[] = [];
    const scanning = Promise.all(Array.from({ length: SCANNERS }, (_, n) => scan(n, received)));
    for (let restart = 1; restart <= RESTARTS; restart += 1) {
      const due = (PACKAGES * (2 * restart - 1)) / (2 * RESTARTS);
      await until(async () => receiver.packages.size >= due * 0.9 || received.length === PACKAGES, LIMIT_MS);
      await restartReceiver();
      await restartWorker();
    }
    await scanning;
    await until(async () => (await pending()) === 0, LIMIT_MS);

    expect(receiver.faults).toEqual([]);
    expect(new Set(received).size).toBe(PACKAGES);
    expect(received.filter((id) => !receiver.packages.has(id))).toEqual([]);
    expect(receiver.packages.size).toBe(PACKAGES);
    expect(await deliveries()).toEqual([{ endpoint: 'add_package', status: 'delivered', n: PACKAGES }]);
    // Each kind of trouble has happened.
    for (const kind of ['201', '409', '500', 'lost']) expect(receiver.responses[kind]).toBeGreaterThan(0);
    const log = await service.call('listWebhookDeliveries', { as: 'iex', query: { limit: 500 } });
    expect(log.body['data'].filter(({ status }: { status: string }) => status !== 'delivered')).toEqual([]);
    await assertTokenHidden();
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
    process.stdout.write(
      `${PACKAGES} flat packages in ${seconds} s: ${JSON.stringify(receiver.responses)}\n`,
    );
  },
  LIMIT_MS,
);

/** Receives every n-th package through the API. */
async function scan(n: number, received: string[]): Promise<void> {
  for (let number = n; number < PACKAGES; number += SCANNERS) {
    const user_code = `IEX-${1001 + (number % 190)}`;
    const body = { tracking_number: `FLAT-${number}`, weight: 1 + (number % 40) / 8, user_code };
    const reply = await untilAdmitted(() => service.call('receivePackage', { as: 'warehouse', body }));
    expect(reply.status).toBe(201);
    received.push(reply.body['data'].package_id);
  }
}

async function pending(): Promise<number> {
  const { rows } = await service.owner.query<{ n: number }>(
    "select count(*)::int as n from webhook_deliveries where status = 'pending'",
  );
  return rows[0]?.n ?? -1;
}

async function deliveries() {
  const { rows } = await service.owner.query(
    `select endpoint, status, count(*)::int as n from webhook_deliveries where courier_id = $1 group by 1, 2`,
    [DEMO.couriers.IEX],
  );
  return rows;
}

/** The token is in no log line, and in the database only encrypted. */
async function assertTokenHidden(): Promise<void> {
  for (const output of [...outputs, worker.output()]) expect(output).not.toContain(TOKEN);
  for (const table of ['webhook_deliveries', 'webhook_attempts', 'events', 'audit_entries', 'couriers']) {
    const { rows } = await service.owner.query(
      `select count(*)::int as n from ${table} as t where t::text like '%' || $1 || '%'`,
      [TOKEN],
    );
    expect([table, rows]).toEqual([table, [{ n: 0 }]]);
  }
}
