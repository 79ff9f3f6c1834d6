import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { emptyQueue } from '../../../support/receivers/outbound.js';
import { withService } from '../../../support/fixture/with-service.js';
import { untilAdmitted } from '../../../support/service/service.js';
import { makeDeliveries, CALLERS, PARTNER, idsIn } from './planted-deliveries.js';

const { IEX, HRB, TWO } = DEMO.couriers;

const fixture = withService({ poolSize: 20 });
const { api, db, service } = fixture;
const {
  insertSent,
  manage,
  rowsOf,
  wokenDeliveryQueues,
  lastAudit,
  pause,
  setUrls,
  list,
  insertFor,
  withoutUrls,
} = makeDeliveries(fixture);
beforeAll(() => setUrls(PARTNER));

// Each test starts with an empty log.
beforeEach(async () => {
  await db.query(
    'truncate events, webhook_deliveries, webhook_attempts, webhook_exchanges, event_counters, webhook_endpoints',
  );
  await emptyQueue(service().owner);
});

describe('redeliver', () => {
  test.each(['failed', 'delivered'] as const)(
    'leaves a %s delivery unchanged and sends the event in a new one',
    async (status) => {
      const id = await insertSent(IEX, { status, attempts: 1 });
      const before = await db.one('webhook_deliveries', { id });
      const reply = await manage('iex', { action: 'redeliver', delivery_id: id }).ok();
      const created = reply.data.delivery_id;
      expect(reply.body).toMatchObject({
        message: 'The event was queued again.',
        data: { event_id: before.event_id, endpoint: 'add_package', created: true },
      });
      expect(created).not.toBe(id);
      const rows = await rowsOf(before.event_id);
      expect(rows.find((row) => row.id === id)).toEqual(before);
      expect(rows.find((row) => row.id === created)).toMatchObject({
        origin: 'redelivery',
        status: 'pending',
        courier_id: IEX,
        attempt_count: 0,
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
    const { data } = await manage('admin', { action: 'redeliver', delivery_id: id }).ok();
    expect(data).toMatchObject({ delivery_id: id, created: false });
    expect(
      await db.query('select id, next_attempt_at <= now() as due, attempt_count from webhook_deliveries'),
    ).toEqual([{ id, due: true, attempt_count: 3 }]);
    expect(await wokenDeliveryQueues()).toEqual([`deliver:${IEX}:add_package`]);
  });

  test(`${CALLERS} concurrent callers create one delivery, and all responses name it`, async () => {
    const id = await insertSent(IEX, { status: 'failed' });
    const replies = await Promise.all(
      Array.from({ length: CALLERS }, () =>
        untilAdmitted(() => manage('iex', { action: 'redeliver', delivery_id: id }).answer()),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array(CALLERS).fill(200));
    expect(replies.filter(({ data }) => data.created)).toHaveLength(1);
    expect(new Set(replies.map(({ data }) => data.delivery_id)).size).toBe(1);
    expect(await db.count('webhook_deliveries', { status: 'pending' })).toBe(1);
  }, 60_000);

  test('takes over the synchronisation of a failed delivery, but not of a delivered one', async () => {
    const jobs = { failed: randomUUID(), delivered: randomUUID() };
    for (const status of ['failed', 'delivered'] as const) {
      const id = await insertSent(IEX, { status, syncJobId: jobs[status] });
      const { data } = await manage('iex', { action: 'redeliver', delivery_id: id }).ok();
      expect((await db.one('webhook_deliveries', { id: data.delivery_id })).sync_job_id).toBe(
        status === 'failed' ? jobs.failed : null,
      );
    }
  });

  test('is rejected without a URL, for a disabled courier and for a paused URL, and writes nothing', async () => {
    const id = await insertSent(HRB, { status: 'failed' });
    const refused = async (code: string) => {
      const before = await db.fingerprint();
      await manage('admin', { action: 'redeliver', delivery_id: id }).refused(400, code);
      expect(await db.fingerprint()).toEqual(before);
    };
    try {
      await pause(HRB, 'add_package');
      await refused('endpoint_paused');
      await db.query('update couriers set is_active = false where id = $1', [HRB]);
      await refused('endpoint_missing');
      await db.query('update couriers set is_active = true, api_url_add_package = null where id = $1', [HRB]);
      await refused('endpoint_missing');
    } finally {
      await db.query('update couriers set is_active = true');
      await setUrls(PARTNER);
    }
  });

  test('is accepted while only the other URL is paused', async () => {
    const id = await insertSent(HRB, { status: 'failed' });
    await pause(HRB, 'update_package');
    const { data } = await manage('admin', { action: 'redeliver', delivery_id: id }).ok();
    expect(data.created).toBe(true);
  });

  test('a redelivered test stays a test and is not counted as missed', async () => {
    const { data } = await manage('iex', { action: 'send_test', endpoint: 'add_package' }).ok();
    await db.query(
      "update webhook_deliveries set status = 'failed', next_attempt_at = null, settled_at = now()",
    );
    await manage('iex', { action: 'redeliver', delivery_id: data.delivery_id }).ok();
    expect(idsIn(await list('iex', { type: 'webhook.test' }).ok())).toHaveLength(2);
    expect(await db.query('select distinct origin from webhook_deliveries')).toEqual([{ origin: 'test' }]);
  });

  test('responds 404 identically to unknown, sibling and foreign deliveries', async () => {
    for (const id of [randomUUID(), await insertSent(HRB), await insertSent(TWO)]) {
      const refusal = await manage('iex', { action: 'redeliver', delivery_id: id }).refused(
        404,
        'delivery_not_found',
      );
      expect(refusal.message).toBe('Delivery not found. Check delivery_id.');
    }
  });
});

describe('send_test', () => {
  const sendTest = (as: string, body: object = {}) =>
    manage(as, { action: 'send_test', endpoint: 'update_package', ...body });

  test('creates an event outside the feed and a delivery to the named URL', async () => {
    await insertFor(IEX);
    const { body, data } = await sendTest('iex').ok();
    expect(body).toMatchObject({
      message: 'A test was queued for update_package.',
      data: { endpoint: 'update_package', created: true },
    });
    const log = await list('iex', { event_id: data.event_id }).ok();
    expect(log.data[0]).toMatchObject({
      delivery_id: data.delivery_id,
      type: 'webhook.test',
      sequence: null,
      package_id: null,
      origin: 'test',
      status: 'pending',
      endpoint: 'update_package',
      attempts: [],
    });
    expect((await db.one('events', { id: data.event_id })).data).toEqual({
      message: 'A test from Crossdock. Answer it with any status from 200 to 299.',
    });
    expect(await wokenDeliveryQueues()).toEqual([`deliver:${IEX}:update_package`]);
    const feed = await api.as('iex').listEvents().ok();
    expect(feed.data).toHaveLength(1);
    expect(feed.meta.last_sequence).toBe(1);
    expect(await lastAudit()).toMatchObject({ action: 'webhook.test_sent', entity_id: IEX });
  });

  test('sends to a paused URL, but not to a missing one', async () => {
    await pause(IEX, 'update_package');
    expect((await sendTest('admin', { courier_id: IEX }).ok()).data.created).toBe(true);
    await withoutUrls(() => sendTest('iex').refused(400, 'endpoint_missing'));
  });

  test('allows ten pending tests per courier, of 60 concurrent ones too', async () => {
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        untilAdmitted(() => sendTest('iex', { endpoint: n % 2 ? 'add_package' : 'update_package' }).answer()),
      ),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
    const refused = replies.filter(({ status }) => status !== 200);
    expect(refused.map(({ status, code }) => [status, code])).toEqual(Array(50).fill([400, 'tests_pending']));
    // Another courier has its own limit.
    await sendTest('hrb').ok();
    await db.query(
      `update webhook_deliveries set status = 'failed', next_attempt_at = null, settled_at = now()
       where id = (select id from webhook_deliveries where courier_id = $1 limit 1)`,
      [IEX],
    );
    await sendTest('iex').ok();
    await sendTest('iex').refused(400, 'tests_pending');
  }, 60_000);
});
