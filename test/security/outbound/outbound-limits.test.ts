import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeOutboundClient } from '../../../src/platform/outbound/client.js';
import { validateUrl } from '../../../src/platform/outbound/urls.js';
import { makeCustomerSync } from '../../../src/modules/customers/sync/sync.js';
import { formatDateTime } from '../../../src/platform/values/time.js';
import { expectSuccess } from '../../support/assertions/scenario.js';
import { insertDelivery, insertEvent } from '../../support/builders/deliveries.js';
import { setSyncUrl } from '../../support/builders/customer-sync.js';
import { rounds } from '../../support/harness/effort.js';
import { refuse, startReceiver, type Receiver } from '../../support/receivers/receiver.js';
import { startService, type Reply, type Service } from '../../support/service/service.js';
import { eventually, setEndpoints } from '../../support/receivers/webhooks.js';

const { IEX, HRB, TWO } = DEMO.couriers;
const PER_SECOND = 20;
const EVENTS = rounds(24, 60);
const PORTS = rounds(40, 100);

let service: Service;
let shared: Receiver;
/** The customer synchronisation waits for its next attempt in parallel to the other tests, at a receiver of its own. */
let source: Receiver;
let synchronisation: Promise<void>;

beforeAll(async () => {
  service = await startService({
    worker: true,
    env: { OUTBOUND_REQUESTS_PER_SECOND: String(PER_SECOND), OUTBOUND_PORTS: '' },
  });
  [shared, source] = await Promise.all([startReceiver(), startReceiver()]);
  synchronisation = synchronise();
  synchronisation.catch(() => {});
});

afterAll(async () => {
  await Promise.allSettled([synchronisation]);
  await service.stop();
  await Promise.all([shared.stop(), source.stop()]);
}, 60_000);

beforeEach(async () => {
  await service.owner.query('delete from courier_quotas');
});

const keys = () => ({ owner: service.owner, secrets: service.app.secrets });

const saveUrl = (url: string, as = 'iex'): Promise<Reply> =>
  service.call('updateCourierSettings', { as, body: { api_url_add_package: url } });

const manage = (as: string, body: object): Promise<Reply> =>
  service.call('manageWebhookDeliveries', { as, body });

type Delivery = { status: string; attempt_count: number };

const deliveriesOf = async (courierId: string): Promise<Delivery[]> =>
  (
    await service.owner.query<Delivery>(
      'select status, attempt_count::int as attempt_count from webhook_deliveries where courier_id = $1',
      [courierId],
    )
  ).rows;

/** Returns the largest number of requests within any 1,000 ms. */
function mostInASecond(times: number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.max(...sorted.map((from, n) => sorted.slice(n).filter((at) => at < from + 1_000).length));
}

describe('the rate limit per address', () => {
  test('applies across couriers and tenants, delays no other address, and counts no attempt', async () => {
    const port = new URL(shared.url).port;
    const couriers = [
      { as: 'iex', courierId: IEX, tenantId: DEMO.tenants.demo, add: `http://127.0.0.1:${port}/iex` },
      // the same address under another name, of another tenant
      { as: 'two/two', courierId: TWO, tenantId: DEMO.tenants.two, add: `http://localhost:${port}/two` },
    ];
    for (const courier of couriers) {
      await setEndpoints(keys(), courier);
      for (let n = 0; n < EVENTS; n += 1) await insertEvent(service.owner, courier);
    }
    const since = formatDateTime(new Date(Date.now() - 3_600_000));
    for (const { as } of couriers)
      expect((await manage(as, { action: 'recover_since', since })).status).toBe(200);
    await eventually(() => shared.received.length === 2 * EVENTS);

    const times = shared.received.map(({ atMs }) => atMs);
    // The end of one window and the start of the next may be adjacent.
    expect(mostInASecond(times)).toBeLessThanOrEqual(2 * PER_SECOND);
    const seconds = (Math.max(...times) - Math.min(...times)) / 1_000;
    expect(seconds).toBeGreaterThan((2 * EVENTS) / PER_SECOND - 2);
    for (const { courierId } of couriers) {
      await eventually(async () =>
        (await deliveriesOf(courierId)).every(({ status }) => status === 'delivered'),
      );
      const counted = (await deliveriesOf(courierId)).map(({ attempt_count }) => attempt_count);
      expect(counted).toEqual(Array<number>(EVENTS).fill(1));
    }
    expect(new Set(shared.received.map(({ headers }) => headers['webhook-id'])).size).toBe(2 * EVENTS);
  }, 60_000);

  test('is separate for each address', async () => {
    const client = makeOutboundClient({ allowLoopback: true, dnsServers: [], requestsPerSecond: 5 });
    const otherServer = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n');
    });
    otherServer.listen(0, '127.0.0.2');
    await once(otherServer, 'listening');
    const address = otherServer.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const send = (url: string) =>
      client.send({ method: 'POST', url, headers: {}, body: '', timeoutMs: 5_000, maxBytes: 100 });
    try {
      const before = shared.received.length;
      const replies = await Promise.all(Array.from({ length: 200 }, () => send(shared.url)));
      const outcomes = replies.map(({ outcome }) => outcome);
      const sent = outcomes.filter((outcome) => outcome === 'answered').length;
      expect(sent).toBeGreaterThanOrEqual(5);
      expect(sent).toBe(shared.received.length - before);
      expect(outcomes.filter((outcome) => outcome === 'postponed')).toHaveLength(200 - sent);
      for (const reply of replies)
        if (reply.outcome === 'postponed') expect(reply.retryAfterMs).toBeLessThanOrEqual(1_000);
      expect(await send(`http://127.0.0.2:${port}/`)).toMatchObject({ outcome: 'answered', status: 204 });
    } finally {
      await client.close();
      otherServer.close();
    }
  });

  test(
    'applies to the customer synchronisation, whose run stays open and completes later',
    () => expectSuccess(synchronisation),
    60_000,
  );
});

describe('ports', () => {
  test('that browsers block are rejected by name when a URL is saved', async () => {
    for (const port of [22, 25, 53, 110, 143, 389, 587, 993, 2049, 5060, 6000, 6667, 10080]) {
      const reply = await saveUrl(`http://127.0.0.1:${port}/`);
      expect([reply.status, reply.body['errors'][0].field]).toEqual([400, 'api_url_add_package']);
      expect(reply.body['errors'][0].message).toContain(`must not use port ${port}`);
    }
    for (const url of ['https://example.com/', 'https://example.com:8443/', 'https://example.com:5432/'])
      expect(validateUrl(url, { allowLoopback: false })).toBeUndefined();
  });

  test('can be restricted by the operator, for saving and for calling a URL', async () => {
    const rules = { allowLoopback: false, ports: [443, 8443] };
    expect(validateUrl('https://example.com/', rules)).toBeUndefined();
    expect(validateUrl('https://example.com:8443/', rules)).toBeUndefined();
    expect(validateUrl('https://example.com:9443/', rules)).toEqual([
      'port_not_allowed',
      { port: 9443, ports: '443, 8443' },
    ]);
    const narrowed = await startService({ env: { OUTBOUND_PORTS: '443, 8443' } });
    const save = (url: string) =>
      narrowed.call('updateCourierSettings', { as: 'iex', body: { api_url_add_package: url } });
    expect((await save('https://example.com:9443/')).status).toBe(400);
    expect((await save('https://example.com:8443/')).status).toBe(200);
    await narrowed.stop();
    const client = makeOutboundClient({ allowLoopback: true, dnsServers: [], ports: [443] });
    const before = shared.received.length;
    const reply = await client.send({
      method: 'GET',
      url: shared.url,
      headers: {},
      timeoutMs: 1_000,
      maxBytes: 10,
    });
    expect(reply).toMatchObject({
      outcome: 'unsafe_target',
      error: expect.stringContaining('must not use port'),
    });
    expect(shared.received).toHaveLength(before);
    await client.close();
  });

  test('that browsers block are never connected to, even if the URL was stored earlier', async () => {
    let connections = 0;
    const listener = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    listener.listen(6667, '127.0.0.1');
    await once(listener, 'listening');
    await setEndpoints(keys(), { add: 'http://127.0.0.1:6667/' });
    expect((await manage('iex', { action: 'send_test', endpoint: 'add_package' })).status).toBe(200);
    const attempts = async () =>
      (
        await service.owner.query<{ outcome: string; error: string }>(
          `select outcome, error from webhook_attempts where courier_id = $1 and outcome = 'unsafe_target'`,
          [IEX],
        )
      ).rows;
    await eventually(async () => (await attempts()).length === 1);
    expect((await attempts())[0]?.error).toContain('must not use port 6667');
    expect(connections).toBe(0);
    listener.close();
  });
});

describe('a courier that scans ports', () => {
  function expectExceeded(reply: Reply): void {
    expect([reply.status, reply.body['code']]).toEqual([429, 'quota_exceeded']);
    const seconds = Number(reply.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(3_600);
  }

  test(`reaches 30 of ${PORTS} ports per hour, also if staff change its URL`, async () => {
    const replies: Reply[] = [];
    for (let port = 20_000; port < 20_000 + PORTS; port += 1)
      replies.push(await saveUrl(`http://127.0.0.1:${port}/`));
    expect(replies.map(({ status }) => status)).toEqual([
      ...Array<number>(30).fill(200),
      ...Array<number>(PORTS - 30).fill(429),
    ]);
    expectExceeded(replies[30] as Reply); // There are more than 30 replies.
    const byStaff = { query: { id: IEX }, body: { api_url_add_package: 'http://127.0.0.1:20200/' } };
    expectExceeded(await service.call('updateCourierSettings', { as: 'admin', ...byStaff }));
    // Another path of the same host, an empty URL, and other couriers' URLs can be saved.
    expect((await saveUrl('http://127.0.0.1:20029/other')).status).toBe(200);
    expect((await saveUrl('')).status).toBe(200);
    expect((await saveUrl('http://127.0.0.1:20000/', 'hrb')).status).toBe(200);
  }, 60_000);

  test('sends at most 300 tests and redeliveries per hour, also in a race', async () => {
    await setEndpoints(keys(), { add: `${shared.url}/scan` });
    await service.owner.query(
      `insert into courier_quotas (tenant_id, courier_id, kind, period_start, used)
       values ($1, $2, 'webhook_sends', date_trunc('hour', now() at time zone 'UTC') at time zone 'UTC', 297)`,
      [DEMO.tenants.demo, IEX],
    );
    const sendTest = () => manage('iex', { action: 'send_test', endpoint: 'add_package' });
    const replies = await Promise.all(Array.from({ length: 9 }, sendTest));
    const sent = replies.filter(({ status }) => status === 200);
    expect(sent).toHaveLength(3);
    for (const reply of replies) if (reply.status !== 200) expectExceeded(reply);
    expectExceeded(await manage('iex', { action: 'redeliver', delivery_id: await completedDelivery() }));
  });

  test('counts each redelivery of a delivery that stays pending, because its receiver answers 500', async () => {
    const failing = await startReceiver(refuse(500));
    try {
      await setEndpoints(keys(), { courierId: HRB, add: `${failing.url}/fails` });
      const event = { courierId: HRB, tenantId: DEMO.tenants.demo };
      const id = await insertDelivery(service.owner, {
        eventId: await insertEvent(service.owner, event),
        status: 'pending',
      });
      await service.owner.query(
        `insert into courier_quotas (tenant_id, courier_id, kind, period_start, used)
         values ($1, $2, 'webhook_sends', date_trunc('hour', now() at time zone 'UTC') at time zone 'UTC', 297)`,
        [DEMO.tenants.demo, HRB],
      );
      for (let sent = 1; sent <= 3; sent += 1) {
        const reply = await manage('hrb', { action: 'redeliver', delivery_id: id });
        expect(reply).toMatchObject({ status: 200, body: { data: { delivery_id: id, created: false } } });
        await eventually(() => failing.received.length === sent);
        await eventually(async () => (await nextAttemptOf(id)).isLater);
      }
      const before = await nextAttemptOf(id);
      expectExceeded(await manage('hrb', { action: 'redeliver', delivery_id: id }));
      expect(await nextAttemptOf(id)).toEqual(before);
      expect(failing.received).toHaveLength(3);
    } finally {
      await setEndpoints(keys(), { courierId: HRB });
      await failing.stop();
    }
  });

  async function nextAttemptOf(id: string): Promise<{ at: string; isLater: boolean }> {
    const { rows } = await service.owner.query(
      `select next_attempt_at::text as at, next_attempt_at > now() as "isLater" from webhook_deliveries where id = $1`,
      [id],
    );
    return rows[0];
  }

  async function completedDelivery(): Promise<string> {
    const completed = async () =>
      (
        await service.owner.query<{ id: string }>(
          `select id from webhook_deliveries where courier_id = $1 and status = 'delivered' and origin = 'test' limit 1`,
          [IEX],
        )
      ).rows[0]?.id ?? '';
    await eventually(async () => (await completed()) !== '');
    return completed();
  }
});

async function synchronise(): Promise<void> {
  await setSyncUrl(service, `${source.url}/customers`, HRB);
  const outbound = makeOutboundClient({ allowLoopback: true, dnsServers: [], requestsPerSecond: 1 });
  const { db, app } = service;
  const deps = {
    db,
    secrets: app.secrets,
    outbound,
    log: { info: () => undefined },
    config: { customerChangesPerDay: 100 },
  };
  const work = makeCustomerSync(deps);
  const { rows } = await service.owner.query<{ id: string }>(
    `insert into customer_sync_runs (tenant_id, id, courier_id, origin) values ($1, new_id(), $2, 'schedule') returning id`,
    [DEMO.tenants.demo, HRB],
  );
  const job = { tenantId: DEMO.tenants.demo, runId: rows[0]?.id ?? '' };
  const request = { method: 'GET', url: source.url, headers: {}, timeoutMs: 5_000, maxBytes: 10 } as const;
  try {
    await outbound.send(request);
    const before = source.at('/customers').length;
    await work(deps, job);
    expect(source.at('/customers')).toHaveLength(before);
    const open = await service.owner.query('select status, error from customer_sync_runs where id = $1', [
      job.runId,
    ]);
    expect(open.rows).toEqual([{ status: 'running', error: null }]);
    // By then the worker has the job.
    await eventually(() => source.at('/customers').length > before);
  } finally {
    await outbound.close();
    await setSyncUrl(service, null, HRB);
  }
}
