import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { QUOTAS } from '../../../../generated/bounds.js';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { emptyQueue } from '../../../support/receivers/outbound.js';
import { insertDelivery, insertEvent } from '../../../support/builders/deliveries.js';
import { withService } from '../../../support/fixture/with-service.js';
import { untilAdmitted } from '../../../support/service/service.js';
import { makeDeliveries, CALLERS, PARTNER } from './planted-deliveries.js';

const { IEX, HRB, TWO } = DEMO.couriers;

const fixture = withService({ poolSize: 20 });
const { db, service } = fixture;
const { manage, insertFor, wokenDeliveryQueues, rowsOf, lastAudit, pause, withoutUrls, setUrls } =
  makeDeliveries(fixture);
beforeAll(() => setUrls(PARTNER));

// Each test starts with an empty log.
beforeEach(async () => {
  await db.query(
    'truncate events, webhook_deliveries, webhook_attempts, webhook_exchanges, event_counters, webhook_endpoints',
  );
  await emptyQueue(service().owner);
});

describe('recover_since', () => {
  const recover = (as: string, body: object = {}) =>
    manage(as, { action: 'recover_since', since: '2026-01-01 00:00:00', ...body });
  const queuedFor = async () =>
    (await db.all('webhook_deliveries', { origin: 'recovery' })).map(({ event_id }) => event_id).sort();

  test('sends exactly the events without a delivery or with failed ones only', async () => {
    const missed = [await insertFor(IEX), await insertFor(IEX), await insertFor(IEX, 'package.updated')];
    await insertDelivery(service().owner, { eventId: String(missed[1]), status: 'failed' });
    await insertDelivery(service().owner, {
      eventId: String(missed[1]),
      status: 'failed',
      origin: 'redelivery',
    });
    const taken = await insertFor(IEX);
    await insertDelivery(service().owner, { eventId: taken, status: 'failed' });
    await insertDelivery(service().owner, { eventId: taken, status: 'delivered', origin: 'redelivery' });
    await insertDelivery(service().owner, { eventId: await insertFor(IEX), status: 'pending' });
    await insertEvent(service().owner, { age: '400 days' });
    await manage('iex', { action: 'send_test', endpoint: 'add_package' }).ok();
    const others = [await insertFor(HRB), await insertFor(TWO)];
    const reply = await recover('iex').ok();
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
    expect(await db.all('webhook_deliveries', { event_id: others })).toEqual([]);
    expect(await lastAudit()).toMatchObject({
      action: 'webhook.recovered',
      entity_id: IEX,
      after: { since: '2026-01-01 00:00:00', endpoints: { add_package: { queued: 2 } } },
    });
  });

  test('includes events at the given second and later', async () => {
    const at = (time: string) =>
      db.query('update events set occurred_at = $1 where sequence = (select max(sequence) from events)', [
        time,
      ]);
    await insertFor(IEX);
    await at('2026-11-19 11:59:59.999Z');
    const inside = await insertFor(IEX);
    await at('2026-11-19 12:00:00Z');
    await recover('iex', { since: '2026-11-19 12:00:00' }).ok();
    expect(await queuedFor()).toEqual([inside]);
  });

  test(`repeated and ${CALLERS} concurrent calls queue each event once`, async () => {
    const events: string[] = [];
    for (let count = 0; count < 30; count += 1) events.push(await insertFor(IEX));
    const replies = await Promise.all(
      Array.from({ length: CALLERS }, (_, n) =>
        untilAdmitted(() => (n % 2 ? recover('iex') : recover('admin', { courier_id: IEX })).answer()),
      ),
    );
    const queued = replies.map(({ data }) => data.endpoints.add_package.queued);
    expect(queued.reduce((sum, each) => sum + each, 0)).toBe(30);
    expect(await queuedFor()).toEqual([...events].sort());
    expect((await recover('iex').ok()).data.endpoints.add_package).toEqual({
      selected: 30,
      queued: 0,
      pending: 0,
      skipped: null,
    });
  }, 60_000);

  test('skips and names a paused or missing URL and sends to the other', async () => {
    await insertFor(IEX);
    await insertFor(IEX, 'package.updated');
    await pause(IEX, 'update_package');
    const paused = await recover('iex').ok();
    expect(paused.body).toMatchObject({
      message: '1 event was queued again. update_package is paused. Send a test first.',
      data: {
        endpoints: {
          add_package: { selected: 1, queued: 1, skipped: null },
          update_package: { selected: 1, queued: 0, skipped: 'paused' },
        },
      },
    });
    const missing = await withoutUrls(() => recover('iex').ok());
    expect(missing.data.endpoints).toEqual({
      add_package: { selected: 1, queued: 0, pending: 0, skipped: 'missing' },
      update_package: { selected: 1, queued: 0, pending: 0, skipped: 'missing' },
    });
  });

  test('takes over the synchronisation of a failed delivery', async () => {
    const eventId = await insertFor(IEX, 'package.updated');
    const syncJobId = randomUUID();
    await insertDelivery(service().owner, { eventId, status: 'failed', syncJobId });
    await recover('iex').ok();
    expect((await db.one('webhook_deliveries', { origin: 'recovery' })).sync_job_id).toBe(syncJobId);
  });

  test('recovers 100,001 missed events in two calls, the oldest 100,000 first', async () => {
    await db.query(
      `insert into events (tenant_id, id, courier_id, sequence, type, package_id, data)
       select $1, new_id(), $2, n, 'package.created', $3, '{}' from generate_series(1, 100001) n`,
      [DEMO.tenants.demo, IEX, randomUUID()],
    );
    const first = await recover('iex').ok();
    expect(first.body).toMatchObject({
      message: '100000 events were queued again. There are more events: repeat the request.',
      data: { has_more: true, endpoints: { add_package: { selected: 100_001, queued: 100_000 } } },
    });
    expect(
      await db.query(
        `select e.sequence::int from events e where not exists (select from webhook_deliveries d where d.event_id = e.id)`,
      ),
    ).toEqual([{ sequence: 100_001 }]);
    expect((await recover('iex').ok()).data).toMatchObject({
      has_more: false,
      endpoints: { add_package: { queued: 1 } },
    });
  }, 120_000);

  test('a loop of setting the URL, recovering and clearing the URL queues each event once per hour', async () => {
    const events = [await insertFor(IEX), await insertFor(IEX)];
    const failAll = () =>
      db.query("update webhook_deliveries set status = 'failed', next_attempt_at = null, settled_at = now()");
    for (const queued of [2, 0, 0]) {
      expect((await recover('iex').ok()).data.endpoints.add_package.queued).toBe(queued);
      await failAll();
    }
    expect(await queuedFor()).toEqual([...events].sort());
    await db.query("update webhook_deliveries set created_at = created_at - interval '61 minutes'");
    expect((await recover('iex').ok()).data.endpoints.add_package.queued).toBe(2);
  });

  test('counts queued webhooks against the quota of a day, recovers what is left of it, and then returns 429', async () => {
    const { limit } = QUOTAS.recovered_webhooks;
    for (let count = 0; count < 3; count += 1) await insertFor(IEX);
    await db.query(
      `insert into courier_quotas (tenant_id, courier_id, kind, period_start, used)
       values ($1, $2, 'recovered_webhooks', date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', $3)
       on conflict (tenant_id, courier_id, kind, period_start) do update set used = excluded.used`,
      [DEMO.tenants.demo, IEX, limit - 2],
    );
    const first = await recover('iex').ok();
    expect(first.data).toMatchObject({ has_more: true, endpoints: { add_package: { queued: 2 } } });
    expect(first.headers.get('ratelimit')).toMatch(/"recovered-webhooks";r=0/);
    const rows = await queuedFor();
    const refused = await recover('iex').refused(429, 'quota_exceeded');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await queuedFor()).toEqual(rows);
    await db.query('delete from courier_quotas');
  });

  test.each([
    '2026-02-30 00:00:00',
    '2026-11-21 24:00:00',
    '2026-11-21 12:60:00',
    '2026-11-21 12:00:60',
    '0000-01-01 00:00:00',
    '2026-13-01 00:00:00',
  ])('rejects the nonexistent time %s with 400', async (since) => {
    const { errors } = await recover('iex', { since }).refused(400, 'validation_failed');
    expect(errors).toMatchObject([{ field: 'since', code: 'invalid' }]);
  });

  test('accepts the first and the last possible time', async () => {
    for (const since of ['0001-01-01 00:00:00', '9999-12-31 23:59:59'])
      expect((await recover('iex', { since }).ok()).data.since).toBe(since);
  });
});
