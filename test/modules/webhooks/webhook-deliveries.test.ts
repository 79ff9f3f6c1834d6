import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { QUOTAS } from '../../../generated/bounds.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { insertDelivery, insertEvent } from '../../support/builders/deliveries.js';
import { fingerprint } from '../../support/readers/fingerprint.js';
import { startService, untilAdmitted, type Reply, type Service } from '../../support/service/service.js';

const { IEX, HRB, TWO } = DEMO.couriers;

const PARTNER = 'https://partner.example/hooks';
const CALLERS = rounds(40, 100);

let service: Service;

beforeAll(async () => {
  service = await startService({ poolSize: 20 });
  await setUrls(PARTNER);
});

afterAll(() => service.stop());

// Each test starts with an empty log.
beforeEach(async () => {
  await service.owner.query(
    'truncate events, webhook_deliveries, webhook_attempts, event_counters, webhook_endpoints',
  );
  await service.owner.query('delete from graphile_worker._private_jobs');
});

const setUrls = (url: string | null) =>
  service.owner.query('update couriers set api_url_add_package = $1, api_url_update_package = $1', [url]);

/** Runs a call while no courier has a URL. */
async function withoutUrls(call: () => Promise<Reply>): Promise<Reply> {
  await setUrls(null);
  try {
    return await call();
  } finally {
    await setUrls(PARTNER);
  }
}

const select = async <Row>(statement: string, values: unknown[] = []) =>
  (await service.owner.query(statement, values)).rows as Row[];

const list = (as: string, query: Record<string, string | number> = {}) =>
  service.call('listWebhookDeliveries', { as, query });
const manage = (as: string, body: object) => service.call('manageWebhookDeliveries', { as, body });

const insertFor = (courierId: string, type: 'package.created' | 'package.updated' = 'package.created') =>
  insertEvent(service.owner, {
    courierId,
    type,
    tenantId: courierId === TWO ? DEMO.tenants.two : DEMO.tenants.demo,
  });
const insertSent = async (courierId: string, inserted: object = {}) =>
  insertDelivery(service.owner, { eventId: await insertFor(courierId), ...inserted });

const pause = (courierId: string, endpoint: string) =>
  service.owner.query(
    `insert into webhook_endpoints (tenant_id, courier_id, endpoint, failing_since, failures, last_failure_at, paused_at)
     select tenant_id, id, $2, now() - interval '3 days', 40, now(), now() from couriers where id = $1`,
    [courierId, endpoint],
  );

type Row = {
  id: string;
  event_id: string;
  endpoint: string;
  origin: string;
  status: string;
  courier_id: string;
};

const rowsOf = (eventId: string) =>
  select<Row>('select * from webhook_deliveries where event_id = $1 order by created_at, id', [eventId]);

/** Returns the keys of the delivery queues that a worker will process. */
const wokenDeliveryQueues = async () =>
  (await select<{ key: string }>('select key from graphile_worker._private_jobs order by key')).map(
    ({ key }) => key,
  );

const lastAudit = async () =>
  (
    await select<Record<string, unknown>>(
      'select action, entity, entity_id, actor_id, after from audit_entries order by id desc limit 1',
    )
  )[0];

const idsIn = ({ body }: Reply) =>
  (body['data'] as { delivery_id: string }[]).map((each) => each.delivery_id);

describe('delivery log', () => {
  test("shows a delivery's event, target, status and every attempt", async () => {
    const packageId = randomUUID();
    const eventId = await insertEvent(service.owner, { packageId });
    const id = await insertDelivery(service.owner, { eventId, status: 'failed', attempts: 2 });
    await service.owner.query(
      `update webhook_deliveries set created_at = '2026-11-21 15:04:09.9Z', settled_at = '2026-11-21 16:00Z',
         last_http_status = 500 where id = $1`,
      [id],
    );
    await service.owner.query(
      `update webhook_attempts set started_at = '2026-11-21 15:04:10.5Z', outcome = 'timeout', http_status = null,
         response_start = null, error = 'No answer within 10 seconds.' where number = 1`,
    );
    await service.owner.query(
      `update webhook_attempts set started_at = '2026-11-21 15:04:15Z' where number = 2`,
    );
    for (const as of ['admin', 'manager', 'iex']) {
      const reply = await list(as);
      expect(reply.body['data']).toEqual([
        {
          delivery_id: id,
          event_id: eventId,
          type: 'package.created',
          sequence: 1,
          package_id: packageId,
          courier_id: IEX,
          courier_name: 'Island Express',
          endpoint: 'add_package',
          origin: 'event',
          status: 'failed',
          attempt_count: 2,
          next_attempt_at: null,
          last_http_status: 500,
          created_at: '2026-11-21 15:04:09',
          settled_at: '2026-11-21 16:00:00',
          attempts: [
            {
              number: 1,
              started_at: '2026-11-21 15:04:10',
              duration_ms: 40,
              outcome: 'timeout',
              http_status: null,
              response_start: null,
              error: 'No answer within 10 seconds.',
            },
            {
              number: 2,
              started_at: '2026-11-21 15:04:15',
              duration_ms: 80,
              outcome: 'rejected',
              http_status: 500,
              response_start: 'no thanks',
              error: 'Answered 500.',
            },
          ],
        },
      ]);
      expect(reply.body['meta']).toEqual({ limit: 50, next_before: null });
    }
  });

  test('contains neither URLs nor secrets', async () => {
    await insertSent(IEX);
    const { body } = await list('admin');
    expect(body['data']).toHaveLength(1);
    for (const hidden of [PARTNER, 'partner.example', 'whsec_'])
      expect(JSON.stringify(body)).not.toContain(hidden);
  });

  test("a courier reads its own log whatever courier_id it sends, and staff read all of their tenant or one courier's", async () => {
    const [iex, hrb, two] = [await insertSent(IEX), await insertSent(HRB), await insertSent(TWO)];
    const named: Record<string, string>[] = [{}, { courier_id: HRB }, { courier_id: TWO }];
    for (const query of named) expect(idsIn(await list('iex', query))).toEqual([iex]);
    expect(idsIn(await list('admin')).sort()).toEqual([iex, hrb].sort());
    expect(idsIn(await list('manager', { courier_id: HRB }))).toEqual([hrb]);
    expect(idsIn(await list('admin', { courier_id: TWO }))).toEqual([]);
    expect(idsIn(await list('two/admin'))).toEqual([two]);
  });

  test('pages newest first, 50 per page, and returns each delivery once while more are added', async () => {
    const eventId = await insertFor(IEX);
    for (let count = 0; count < 120; count += 1) await insertDelivery(service.owner, { eventId });
    // Many deliveries share a timestamp, as after a recovery.
    await service.owner.query("update webhook_deliveries set created_at = date_trunc('second', created_at)");
    const inOrder = (
      await select<{ id: string }>('select id from webhook_deliveries order by created_at desc, id desc')
    ).map(({ id }) => id);
    expect(inOrder).toHaveLength(120);
    const first = await list('iex');
    expect(idsIn(first)).toEqual(inOrder.slice(0, 50));
    await insertDelivery(service.owner, { eventId });
    const second = await list('iex', { before: first.body['meta'].next_before });
    expect(idsIn(second)).toEqual(inOrder.slice(50, 100));
    const third = await list('iex', { before: second.body['meta'].next_before });
    expect([idsIn(third), third.body['meta'].next_before]).toEqual([inOrder.slice(100), null]);
    const exact = await list('iex', { before: second.body['meta'].next_before, limit: 20 });
    expect([idsIn(exact).length, exact.body['meta'].next_before]).toEqual([20, null]);
    expect(idsIn(await list('iex', { before: randomUUID() }))).toEqual([]);
  });

  test('date filters include whole days, and a reversed range is rejected with 400', async () => {
    const eventId = await insertFor(IEX);
    const at = (createdAt: string) => insertDelivery(service.owner, { eventId, createdAt });
    await at('2026-11-18 23:59:59.999Z');
    const inside = [await at('2026-11-19 00:00Z'), await at('2026-11-19 23:59:59.999Z')];
    await at('2026-11-20 00:00Z');
    const day = { from: '2026-11-19', to: '2026-11-19' };
    expect(idsIn(await list('iex', day)).sort()).toEqual(inside.sort());
    expect(await list('iex', { from: '2026-11-20', to: '2026-11-19' })).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ field: 'to', code: 'minimum' }] },
    });
  });

  test('all filters apply together', async () => {
    const packageId = randomUUID();
    const eventId = await insertEvent(service.owner, { packageId, type: 'package.updated' });
    const id = await insertDelivery(service.owner, {
      eventId,
      status: 'failed',
      createdAt: '2026-11-19 12:00Z',
    });
    await insertDelivery(service.owner, { eventId, status: 'delivered', createdAt: '2026-11-19 12:00Z' });
    const query = {
      ...{ courier_id: IEX, status: 'failed', endpoint: 'update_package', type: 'package.updated' },
      ...{ event_id: eventId, package_id: packageId, from: '2026-11-19', to: '2026-11-19' },
    };
    expect(idsIn(await list('admin', query))).toEqual([id]);
    for (const other of [
      { type: 'package.created' },
      { package_id: randomUUID() },
      { to: '2026-11-19', from: '2026-11-18', status: 'pending' },
    ])
      expect(idsIn(await list('admin', { ...query, ...other }))).toEqual([]);
  });
});

describe('redeliver', () => {
  test.each(['failed', 'delivered'] as const)(
    'leaves a %s delivery unchanged and sends the event in a new one',
    async (status) => {
      const id = await insertSent(IEX, { status, attempts: 1 });
      const [before] = await select<Row>('select * from webhook_deliveries where id = $1', [id]);
      const reply = await manage('iex', { action: 'redeliver', delivery_id: id });
      const created = String(reply.body['data'].delivery_id);
      expect(reply.body).toMatchObject({
        message: 'The event was queued again.',
        data: { event_id: before?.event_id, endpoint: 'add_package', created: true },
      });
      expect(created).not.toBe(id);
      const rows = await rowsOf(String(before?.event_id));
      expect(rows.find((row) => row.id === id)).toEqual(before);
      expect(rows.find((row) => row.id === created)).toMatchObject({
        ...{ origin: 'redelivery', status: 'pending', courier_id: IEX, attempt_count: 0 },
      });
      expect(await wokenDeliveryQueues()).toEqual([`deliver:${IEX}:add_package`]);
      expect(await lastAudit()).toMatchObject({
        action: 'webhook.redelivered',
        entity: 'courier',
        entity_id: IEX,
        actor_id: DEMO.users.iex,
        after: { id: created, of: id, isNew: true },
      });
    },
  );

  test('sends a pending delivery now without creating a second one', async () => {
    const id = await insertSent(IEX, { status: 'pending', attempts: 3 });
    const reply = await manage('admin', { action: 'redeliver', delivery_id: id });
    expect(reply.body['data']).toMatchObject({ delivery_id: id, created: false });
    expect(
      await select('select id, next_attempt_at <= now() as due, attempt_count from webhook_deliveries'),
    ).toEqual([{ id, due: true, attempt_count: 3 }]);
    expect(await wokenDeliveryQueues()).toEqual([`deliver:${IEX}:add_package`]);
  });

  test(`${CALLERS} concurrent callers create one delivery, and all responses name it`, async () => {
    const id = await insertSent(IEX, { status: 'failed' });
    const replies = await Promise.all(
      Array.from({ length: CALLERS }, () =>
        untilAdmitted(() => manage('iex', { action: 'redeliver', delivery_id: id })),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array(CALLERS).fill(200));
    expect(replies.filter(({ body }) => body['data'].created)).toHaveLength(1);
    expect(new Set(replies.map(({ body }) => body['data'].delivery_id)).size).toBe(1);
    expect(await select("select from webhook_deliveries where status = 'pending'")).toHaveLength(1);
  }, 60_000);

  test('takes over the synchronisation of a failed delivery, but not of a delivered one', async () => {
    const jobs = { failed: randomUUID(), delivered: randomUUID() };
    for (const status of ['failed', 'delivered'] as const) {
      const id = await insertSent(IEX, { status, syncJobId: jobs[status] });
      const { body } = await manage('iex', { action: 'redeliver', delivery_id: id });
      expect(
        await select('select sync_job_id from webhook_deliveries where id = $1', [body['data'].delivery_id]),
      ).toEqual([{ sync_job_id: status === 'failed' ? jobs.failed : null }]);
    }
  });

  test('is rejected without a URL, for a disabled courier and for a paused URL, and writes nothing', async () => {
    const id = await insertSent(HRB, { status: 'failed' });
    const refused = async (code: string) => {
      const before = await fingerprint(service.owner);
      const reply = await manage('admin', { action: 'redeliver', delivery_id: id });
      expect(reply).toMatchObject({ status: 400, body: { code } });
      expect(await fingerprint(service.owner)).toEqual(before);
    };
    try {
      await pause(HRB, 'add_package');
      await refused('endpoint_paused');
      await service.owner.query('update couriers set is_active = false where id = $1', [HRB]);
      await refused('endpoint_missing');
      await service.owner.query(
        'update couriers set is_active = true, api_url_add_package = null where id = $1',
        [HRB],
      );
      await refused('endpoint_missing');
    } finally {
      await service.owner.query('update couriers set is_active = true');
      await setUrls('https://partner.example/hooks');
    }
    // A pause of the other URL does not matter.
    await service.owner.query("update webhook_endpoints set endpoint = 'update_package'");
    expect((await manage('admin', { action: 'redeliver', delivery_id: id })).status).toBe(200);
  });

  test('a redelivered test stays a test and is not counted as missed', async () => {
    const { body } = await manage('iex', { action: 'send_test', endpoint: 'add_package' });
    await service.owner.query(
      "update webhook_deliveries set status = 'failed', next_attempt_at = null, settled_at = now()",
    );
    const id = body['data'].delivery_id as string;
    await manage('iex', { action: 'redeliver', delivery_id: id });
    expect(idsIn(await list('iex', { type: 'webhook.test' }))).toHaveLength(2);
    expect(await select('select distinct origin from webhook_deliveries')).toEqual([{ origin: 'test' }]);
  });

  test('responds 404 identically to unknown, sibling and foreign deliveries', async () => {
    for (const id of [randomUUID(), await insertSent(HRB), await insertSent(TWO)])
      expect(await manage('iex', { action: 'redeliver', delivery_id: id })).toMatchObject({
        status: 404,
        body: { code: 'delivery_not_found', message: 'Delivery not found. Check delivery_id.' },
      });
  });
});

describe('recover_since', () => {
  const recover = (as: string, body: object = {}) =>
    manage(as, { action: 'recover_since', since: '2026-01-01 00:00:00', ...body });
  const queuedFor = async () =>
    (
      await select<{ event_id: string }>(
        "select event_id from webhook_deliveries where origin = 'recovery' order by event_id",
      )
    ).map(({ event_id: id }) => id);

  test('sends exactly the events without a delivery or with failed ones only', async () => {
    const missed = [await insertFor(IEX), await insertFor(IEX), await insertFor(IEX, 'package.updated')];
    await insertDelivery(service.owner, { eventId: String(missed[1]), status: 'failed' });
    await insertDelivery(service.owner, {
      eventId: String(missed[1]),
      status: 'failed',
      origin: 'redelivery',
    });
    const taken = await insertFor(IEX);
    await insertDelivery(service.owner, { eventId: taken, status: 'failed' });
    await insertDelivery(service.owner, { eventId: taken, status: 'delivered', origin: 'redelivery' });
    await insertDelivery(service.owner, { eventId: await insertFor(IEX), status: 'pending' });
    await insertEvent(service.owner, { age: '400 days' });
    await manage('iex', { action: 'send_test', endpoint: 'add_package' });
    const others = [await insertFor(HRB), await insertFor(TWO)];
    const reply = await recover('iex');
    expect(reply.body).toMatchObject({
      message: '3 events were queued again. 1 pending one is sent now.',
      data: {
        since: '2026-01-01 00:00:00',
        endpoints: {
          add_package: { selected: 4, queued: 2, pending: 1, skipped: null },
          update_package: { selected: 1, queued: 1, pending: 0, skipped: null },
        },
        has_more: false,
      },
    });
    expect(await queuedFor()).toEqual([...missed].sort());
    expect(await wokenDeliveryQueues()).toEqual([
      `deliver:${IEX}:add_package`,
      `deliver:${IEX}:update_package`,
    ]);
    expect(await rowsOf(String(missed[2]))).toMatchObject([
      { endpoint: 'update_package', status: 'pending', courier_id: IEX },
    ]);
    for (const eventId of others) expect(await rowsOf(eventId)).toEqual([]);
    expect(await lastAudit()).toMatchObject({
      action: 'webhook.recovered',
      entity_id: IEX,
      after: { since: '2026-01-01 00:00:00', endpoints: { add_package: { queued: 2 } } },
    });
  });

  test('includes events at the given second and later', async () => {
    const at = (time: string) =>
      service.owner.query(
        'update events set occurred_at = $1 where sequence = (select max(sequence) from events)',
        [time],
      );
    await insertFor(IEX);
    await at('2026-11-19 11:59:59.999Z');
    const inside = await insertFor(IEX);
    await at('2026-11-19 12:00:00Z');
    await recover('iex', { since: '2026-11-19 12:00:00' });
    expect(await queuedFor()).toEqual([inside]);
  });

  test(`repeated and ${CALLERS} concurrent calls queue each event once`, async () => {
    const events: string[] = [];
    for (let count = 0; count < 30; count += 1) events.push(await insertFor(IEX));
    const replies = await Promise.all(
      Array.from({ length: CALLERS }, (_, n) =>
        untilAdmitted(() => (n % 2 ? recover('iex') : recover('admin', { courier_id: IEX }))),
      ),
    );
    const queued = replies.map(({ body }) => Number(body['data'].endpoints.add_package.queued));
    expect(queued.reduce((sum, each) => sum + each, 0)).toBe(30);
    expect(await queuedFor()).toEqual([...events].sort());
    expect((await recover('iex')).body['data'].endpoints.add_package).toEqual({
      ...{ selected: 30, queued: 0, pending: 0, skipped: null },
    });
  }, 60_000);

  test('skips and names a paused or missing URL and sends to the other', async () => {
    await insertFor(IEX);
    await insertFor(IEX, 'package.updated');
    await pause(IEX, 'update_package');
    const paused = await recover('iex');
    expect(paused.body).toMatchObject({
      message: '1 event was queued again. update_package is paused. Send a test first.',
      data: {
        endpoints: {
          add_package: { selected: 1, queued: 1, skipped: null },
          update_package: { selected: 1, queued: 0, skipped: 'paused' },
        },
      },
    });
    const missing = await withoutUrls(() => recover('iex'));
    expect(missing.body['data'].endpoints).toEqual({
      add_package: { selected: 1, queued: 0, pending: 0, skipped: 'missing' },
      update_package: { selected: 1, queued: 0, pending: 0, skipped: 'missing' },
    });
  });

  test('takes over the synchronisation of a failed delivery', async () => {
    const eventId = await insertFor(IEX, 'package.updated');
    const syncJobId = randomUUID();
    await insertDelivery(service.owner, { eventId, status: 'failed', syncJobId });
    await recover('iex');
    expect(await select("select sync_job_id from webhook_deliveries where origin = 'recovery'")).toEqual([
      { sync_job_id: syncJobId },
    ]);
  });

  test('recovers 100,001 missed events in two calls, the oldest 100,000 first', async () => {
    await service.owner.query(
      `insert into events (tenant_id, id, courier_id, sequence, type, package_id, data)
       select $1, new_id(), $2, n, 'package.created', $3, '{}' from generate_series(1, 100001) n`,
      [DEMO.tenants.demo, IEX, randomUUID()],
    );
    const first = await recover('iex');
    expect(first.body).toMatchObject({
      message: '100000 events were queued again. There are more events: repeat the request.',
      data: { has_more: true, endpoints: { add_package: { selected: 100_001, queued: 100_000 } } },
    });
    expect(
      await select(
        `select e.sequence::int from events e where not exists (select from webhook_deliveries d where d.event_id = e.id)`,
      ),
    ).toEqual([{ sequence: 100_001 }]);
    expect((await recover('iex')).body['data']).toMatchObject({
      ...{ has_more: false, endpoints: { add_package: { queued: 1 } } },
    });
  }, 120_000);

  test('a loop of setting the URL, recovering and clearing the URL queues each event once per hour', async () => {
    const events = [await insertFor(IEX), await insertFor(IEX)];
    const failAll = () =>
      service.owner.query(
        "update webhook_deliveries set status = 'failed', next_attempt_at = null, settled_at = now()",
      );
    for (const queued of [2, 0, 0]) {
      expect((await recover('iex')).body['data'].endpoints.add_package.queued).toBe(queued);
      await failAll();
    }
    expect(await queuedFor()).toEqual([...events].sort());
    await service.owner.query(
      "update webhook_deliveries set created_at = created_at - interval '61 minutes'",
    );
    expect((await recover('iex')).body['data'].endpoints.add_package.queued).toBe(2);
  });

  test('counts queued webhooks against the quota of a day, recovers what is left of it, and then returns 429', async () => {
    const { limit } = QUOTAS.recovered_webhooks;
    for (let count = 0; count < 3; count += 1) await insertFor(IEX);
    await service.owner.query(
      `insert into courier_quotas (tenant_id, courier_id, kind, period_start, used)
       values ($1, $2, 'recovered_webhooks', date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', $3)
       on conflict (tenant_id, courier_id, kind, period_start) do update set used = excluded.used`,
      [DEMO.tenants.demo, IEX, limit - 2],
    );
    const first = await recover('iex');
    expect(first.body['data']).toMatchObject({ has_more: true, endpoints: { add_package: { queued: 2 } } });
    expect(first.headers.get('ratelimit')).toMatch(/"recovered-webhooks";r=0/);
    const rows = await queuedFor();
    const refused = await recover('iex');
    expect([refused.status, refused.body['code']]).toEqual([429, 'quota_exceeded']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await queuedFor()).toEqual(rows);
    await service.owner.query('delete from courier_quotas');
  });

  test.each([
    ...['2026-02-30 00:00:00', '2026-11-21 24:00:00', '2026-11-21 12:60:00', '2026-11-21 12:00:60'],
    ...['0000-01-01 00:00:00', '2026-13-01 00:00:00'],
  ])('rejects the nonexistent time %s with 400', async (since) => {
    expect(await recover('iex', { since })).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ field: 'since', code: 'invalid' }] },
    });
  });

  test('accepts the first and the last possible time', async () => {
    for (const since of ['0001-01-01 00:00:00', '9999-12-31 23:59:59'])
      expect((await recover('iex', { since })).status).toBe(200);
  });
});

describe('send_test', () => {
  const sendTest = (as: string, body: object = {}) =>
    manage(as, { action: 'send_test', endpoint: 'update_package', ...body });

  test('creates an event outside the feed and a delivery to the named URL', async () => {
    await insertFor(IEX);
    const { body } = await sendTest('iex');
    expect(body).toMatchObject({
      message: 'A test was queued for update_package.',
      data: { endpoint: 'update_package', created: true },
    });
    const [found] = (await list('iex', { event_id: body['data'].event_id })).body['data'] as object[];
    expect(found).toMatchObject({
      ...{ delivery_id: body['data'].delivery_id, type: 'webhook.test', sequence: null, package_id: null },
      ...{ origin: 'test', status: 'pending', endpoint: 'update_package', attempts: [] },
    });
    expect(await select('select data from events where id = $1', [body['data'].event_id])).toEqual([
      { data: { message: 'A test from Crossdock. Answer it with any status from 200 to 299.' } },
    ]);
    expect(await wokenDeliveryQueues()).toEqual([`deliver:${IEX}:update_package`]);
    const feed = await service.call('listEvents', { as: 'iex' });
    expect(feed.body['data']).toHaveLength(1);
    expect(feed.body['meta'].last_sequence).toBe(1);
    expect(await lastAudit()).toMatchObject({ action: 'webhook.test_sent', entity_id: IEX });
  });

  test('sends to a paused URL, but not to a missing one', async () => {
    await pause(IEX, 'update_package');
    expect((await sendTest('admin', { courier_id: IEX })).status).toBe(200);
    const reply = await withoutUrls(() => sendTest('iex'));
    expect(reply).toMatchObject({ status: 400, body: { code: 'endpoint_missing' } });
  });

  test('allows ten pending tests per courier, of 60 concurrent ones too', async () => {
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        untilAdmitted(() => sendTest('iex', { endpoint: n % 2 ? 'add_package' : 'update_package' })),
      ),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
    const refused = replies.filter(({ status }) => status !== 200);
    expect(refused.map(({ status, body }) => [status, body['code']])).toEqual(
      Array(50).fill([400, 'tests_pending']),
    );
    // Another courier has its own limit.
    expect((await sendTest('hrb')).status).toBe(200);
    await service.owner.query(
      `update webhook_deliveries set status = 'failed', next_attempt_at = null, settled_at = now()
       where id = (select id from webhook_deliveries where courier_id = $1 limit 1)`,
      [IEX],
    );
    expect((await sendTest('iex')).status).toBe(200);
    expect((await sendTest('iex')).body['code']).toBe('tests_pending');
  }, 60_000);
});

describe('access to webhook management', () => {
  test.each(['recover_since', 'send_test'])(
    '%s: staff must name the courier, and a courier always uses its own account',
    async (action) => {
      await insertFor(IEX);
      const body = { action, endpoint: 'add_package', since: '2026-01-01 00:00:00' };
      expect(await manage('manager', body)).toMatchObject({
        status: 400,
        body: { errors: [{ field: 'courier_id', code: 'required' }] },
      });
      for (const id of [randomUUID(), TWO])
        expect(await manage('admin', { ...body, courier_id: id })).toMatchObject({
          status: 404,
          body: { code: 'courier_not_found' },
        });
      await manage('iex', { ...body, courier_id: HRB });
      expect(await select('select distinct courier_id from webhook_deliveries')).toEqual([
        { courier_id: IEX },
      ]);
    },
  );

  test('denies the warehouse role and anonymous callers', async () => {
    const id = await insertSent(IEX, { status: 'failed' });
    const body = { action: 'redeliver', delivery_id: id };
    for (const reply of [await list('warehouse'), await manage('warehouse', body)])
      expect(reply).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
    expect(await service.call('manageWebhookDeliveries', { body })).toMatchObject({ status: 401 });
    expect(await service.call('listWebhookDeliveries', {})).toMatchObject({ status: 401 });
    expect(await select('select id from webhook_deliveries')).toEqual([{ id }]);
  });
});
