import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { emptyQueue } from '../../../support/receivers/outbound.js';
import { insertDelivery, insertEvent } from '../../../support/builders/deliveries.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makeDeliveries, PARTNER, idsIn } from './planted-deliveries.js';

const { IEX, HRB, TWO } = DEMO.couriers;

const fixture = withService({ poolSize: 20 });
const { api, db, service } = fixture;
const { list, insertSent, insertFor, manage, setUrls } = makeDeliveries(fixture);
beforeAll(() => setUrls(PARTNER));

// Each test starts with an empty log.
beforeEach(async () => {
  await db.query(
    'truncate events, webhook_deliveries, webhook_attempts, webhook_exchanges, event_counters, webhook_endpoints',
  );
  await emptyQueue(service().owner);
});

describe('delivery log', () => {
  test("shows a delivery's event, target, status and every attempt", async () => {
    const packageId = randomUUID();
    const eventId = await insertEvent(service().owner, { packageId });
    const id = await insertDelivery(service().owner, { eventId, status: 'failed', attempts: 2 });
    await db.query(
      `update webhook_deliveries set created_at = '2026-11-21 15:04:09.9Z', settled_at = '2026-11-21 16:00Z',
         last_http_status = 500 where id = $1`,
      [id],
    );
    await db.query(
      `update webhook_attempts set started_at = '2026-11-21 15:04:10.5Z', outcome = 'timeout', http_status = null,
         response_start = null, error = 'No answer within 10 seconds.' where number = 1`,
    );
    await db.query(`update webhook_attempts set started_at = '2026-11-21 15:04:15Z' where number = 2`);
    for (const as of ['admin', 'manager', 'iex']) {
      const reply = await list(as).ok();
      expect(reply.data).toEqual([
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
      expect(reply.meta).toEqual({ limit: 50, next_before: null });
    }
  });

  test('contains neither URLs nor secrets', async () => {
    await insertSent(IEX);
    const { body, data } = await list('admin').ok();
    expect(data).toHaveLength(1);
    for (const hidden of [PARTNER, 'partner.example', 'whsec_'])
      expect(JSON.stringify(body)).not.toContain(hidden);
  });

  test("a courier reads its own log whatever courier_id it sends, and staff read all of their tenant or one courier's", async () => {
    const [iex, hrb, two] = [await insertSent(IEX), await insertSent(HRB), await insertSent(TWO)];
    const named: Record<string, string>[] = [{}, { courier_id: HRB }, { courier_id: TWO }];
    for (const query of named) expect(idsIn(await list('iex', query).ok())).toEqual([iex]);
    expect(idsIn(await list('admin').ok()).sort()).toEqual([iex, hrb].sort());
    expect(idsIn(await list('manager', { courier_id: HRB }).ok())).toEqual([hrb]);
    expect(idsIn(await list('admin', { courier_id: TWO }).ok())).toEqual([]);
    expect(idsIn(await list('two/admin').ok())).toEqual([two]);
  });

  test('pages newest first, 50 per page, and returns each delivery once while more are added', async () => {
    const eventId = await insertFor(IEX);
    for (let count = 0; count < 120; count += 1) await insertDelivery(service().owner, { eventId });
    // Many deliveries share a timestamp, as after a recovery.
    await db.query("update webhook_deliveries set created_at = date_trunc('second', created_at)");
    const inOrder = (
      await db.query<{ id: string }>('select id from webhook_deliveries order by created_at desc, id desc')
    ).map(({ id }) => id);
    expect(inOrder).toHaveLength(120);
    const first = await list('iex').ok();
    expect(idsIn(first)).toEqual(inOrder.slice(0, 50));
    await insertDelivery(service().owner, { eventId });
    const second = await list('iex', { before: first.meta.next_before }).ok();
    expect(idsIn(second)).toEqual(inOrder.slice(50, 100));
    const third = await list('iex', { before: second.meta.next_before }).ok();
    expect([idsIn(third), third.meta.next_before]).toEqual([inOrder.slice(100), null]);
    const exact = await list('iex', { before: second.meta.next_before, limit: 20 }).ok();
    expect([idsIn(exact).length, exact.meta.next_before]).toEqual([20, null]);
    expect(idsIn(await list('iex', { before: randomUUID() }).ok())).toEqual([]);
  });

  test('date filters include whole days, and a reversed range is rejected with 400', async () => {
    const eventId = await insertFor(IEX);
    const at = (createdAt: string) => insertDelivery(service().owner, { eventId, createdAt });
    await at('2026-11-18 23:59:59.999Z');
    const inside = [await at('2026-11-19 00:00Z'), await at('2026-11-19 23:59:59.999Z')];
    await at('2026-11-20 00:00Z');
    const day = { from: '2026-11-19', to: '2026-11-19' };
    expect(idsIn(await list('iex', day).ok()).sort()).toEqual(inside.sort());
    const { errors } = await list('iex', { from: '2026-11-20', to: '2026-11-19' }).refused(
      400,
      'validation_failed',
    );
    expect(errors).toMatchObject([{ field: 'to', code: 'minimum' }]);
  });

  test('all filters apply together', async () => {
    const packageId = randomUUID();
    const eventId = await insertEvent(service().owner, { packageId, type: 'package.updated' });
    const id = await insertDelivery(service().owner, {
      eventId,
      status: 'failed',
      createdAt: '2026-11-19 12:00Z',
    });
    await insertDelivery(service().owner, { eventId, status: 'delivered', createdAt: '2026-11-19 12:00Z' });
    const query = {
      courier_id: IEX,
      status: 'failed',
      endpoint: 'update_package',
      type: 'package.updated',
      event_id: eventId,
      package_id: packageId,
      from: '2026-11-19',
      to: '2026-11-19',
    };
    expect(idsIn(await list('admin', query).ok())).toEqual([id]);
    for (const other of [
      { type: 'package.created' },
      { package_id: randomUUID() },
      { to: '2026-11-19', from: '2026-11-18', status: 'pending' },
    ])
      expect(idsIn(await list('admin', { ...query, ...other }).ok())).toEqual([]);
  });
});

describe('access to webhook management', () => {
  test.each(['recover_since', 'send_test'])(
    '%s: staff must name the courier, and a courier always uses its own account',
    async (action) => {
      await insertFor(IEX);
      const body = { action, endpoint: 'add_package', since: '2026-01-01 00:00:00' };
      const { errors } = await manage('manager', body).refused(400, 'validation_failed');
      expect(errors).toMatchObject([{ field: 'courier_id', code: 'required' }]);
      for (const id of [randomUUID(), TWO])
        await manage('admin', { ...body, courier_id: id }).refused(404, 'courier_not_found');
      await manage('iex', { ...body, courier_id: HRB }).ok();
      expect(await db.query('select distinct courier_id from webhook_deliveries')).toEqual([
        { courier_id: IEX },
      ]);
    },
  );

  test('denies the warehouse role and anonymous callers', async () => {
    const id = await insertSent(IEX, { status: 'failed' });
    const body = { action: 'redeliver', delivery_id: id };
    await list('warehouse').refused(403, 'permission_denied');
    await manage('warehouse', body).refused(403, 'permission_denied');
    expect(await api.anonymous.manageWebhookDeliveries(unchecked(body)).status()).toBe(401);
    expect(await api.anonymous.listWebhookDeliveries().status()).toBe(401);
    expect(await db.all('webhook_deliveries')).toMatchObject([{ id }]);
  });
});
