import { beforeEach, describe, expect, test } from '@jest/globals';
import { makeParcels, newNumber } from '../../../support/builders/parcels.js';
import { refuse, accept } from '../../../support/receivers/receiver.js';
import { until } from '../../../support/service/processes.js';
import { HRB, IEX, USUAL, withChosenEvents } from './chosen-receivers.js';

const { api, db, service, received, receiverOf, storedTypes, forget } = withChosenEvents();
const parcels = () => makeParcels(service());
const typesOf = (payloads: { type: string }[]) => payloads.map(({ type }) => type);

beforeEach(async () => {
  await forget();
  await db.query(`update couriers set add_package_format = 'event', update_package_format = 'event'`);
});

async function receiveAnnounced(): Promise<string> {
  const number = newNumber();
  await parcels().announce('IEX', number);
  return parcels().receive(number);
}

const choose = (fields: object, as = 'iex') => api.as(as).updateCourierSettings(fields);

describe('the types of a URL', () => {
  test('are at first those that it always had, for couriers of earlier releases and new ones', async () => {
    const usual = { add_package_events: USUAL.add, update_package_events: USUAL.update };
    const { data } = await api.as('iex').getCourierSettings({}).ok();
    expect(data).toMatchObject(usual);
    const courier = await api
      .as('admin')
      .manageCouriers({
        action: 'create',
        courier_code: 'CHO',
        courier_name: 'Chosen',
        house_color: '#0A7D5C',
        login: { username: 'chosen', full_name: 'Ann Lee' },
      })
      .ok();
    const { courier_id: id } = courier.data as { courier_id: string };
    expect((await api.as('admin').getCourierSettings({ id }).ok()).data).toMatchObject(usual);
  });

  test('are chosen by the courier: an event goes to each URL with its type, and to no other courier', async () => {
    const added = ['package.created', 'prealert.received'];
    const { data } = await choose({ add_package_events: [], update_package_events: added }).ok();
    expect(data).toMatchObject({ add_package_events: [], update_package_events: added });
    await receiveAnnounced();
    expect(typesOf(await received(IEX, '/update'))).toEqual(added);
    expect(await received(IEX, '/add')).toEqual([]);
    await choose({ add_package_events: added }).ok();
    await receiveAnnounced();
    const twice = await received(IEX);
    expect(typesOf(twice)).toEqual([
      ...added,
      'package.created',
      'package.created',
      'prealert.received',
      'prealert.received',
    ]);
    expect(new Set(twice.map(({ event_id }) => event_id)).size).toBe(4);
    expect(await received(HRB)).toEqual([]);
  });

  test('the same types in another order are no change, and a change is in the audit log', async () => {
    const reversed = [...USUAL.update].reverse();
    const same = await choose({ update_package_events: reversed }).ok();
    expect(same.body.message).toBe('The settings already have these values. Nothing was changed.');
    await choose({ update_package_events: ['package.updated'] }).ok();
    const [entry] = await db.query(
      `select before, after from audit_entries where entity_id = $1 and action = 'courier.updated' order by id desc limit 1`,
      [IEX],
    );
    expect(entry).toEqual({
      before: { update_package_events: USUAL.update },
      after: { update_package_events: ['package.updated'] },
    });
  });

  test.each([
    [{ add_package_events: ['package.lost'] }, 'add_package_events'],
    [{ add_package_events: ['package.created', 'package.created'] }, 'add_package_events'],
    [{ add_package_events: ['webhook.test'] }, 'add_package_events'],
    [{ add_package_format: 'flat', add_package_events: ['bill.paid'] }, 'add_package_events'],
  ])('%j is refused', async (body, field) => {
    const { errors } = await choose(body).refused(400, 'validation_failed');
    expect(errors[0]?.field).toContain(field);
  });

  test('a flat URL has only types of packages, in whichever order the two are set', async () => {
    await choose({ add_package_events: ['package.created', 'bill.paid'] }).ok();
    const { errors } = await choose({ add_package_format: 'flat' }).refused(400, 'validation_failed');
    expect(errors).toMatchObject([{ field: 'add_package_format', code: 'unusable' }]);
    await choose({ add_package_format: 'flat', add_package_events: ['package.updated'] }).ok();
    expect((await api.as('iex').getCourierSettings({}).ok()).data).toMatchObject({
      add_package_format: 'flat',
      add_package_events: ['package.updated'],
    });
  });

  test('an event that waits for a URL that becomes flat is not sent as a package', async () => {
    await choose({ add_package_events: ['prealert.received'] }).ok();
    receiverOf(IEX).answer = refuse(500);
    await receiveAnnounced();
    await until(async () => receiverOf(IEX).received.length > 0);
    receiverOf(IEX).answer = accept;
    await db.query(
      `update couriers set add_package_format = 'flat', add_package_events = '{}' where id = $1`,
      [IEX],
    );
    const count = receiverOf(IEX).received.length;
    await until(
      async () => (await db.query(`select from webhook_deliveries where status = 'failed'`)).length === 1,
    );
    const [attempt] = await db.query('select error from webhook_attempts order by number desc limit 1');
    expect(attempt).toEqual({ error: 'The format of the URL has only packages. Nothing was sent.' });
    expect(receiverOf(IEX).received.length).toBeLessThanOrEqual(count + 1);
    const flat = receiverOf(IEX).received.filter(({ body }) => body.includes('PackageID'));
    expect(flat).toEqual([]);
  });

  test('without a URL the feed has the chosen types, and only those', async () => {
    await choose({
      api_url_add_package: '',
      api_url_update_package: '',
      add_package_events: ['prealert.received'],
    }).ok();
    await receiveAnnounced();
    const { data } = await api.as('iex').listEvents({ after: 0 }).ok();
    expect(typesOf(data)).toEqual(['package.created', 'prealert.received']);
    expect(data.map(({ sequence }) => sequence)).toEqual([1, 2]);
    await choose({ add_package_events: [] }).ok();
    await receiveAnnounced();
    expect(await storedTypes(IEX)).toEqual(['package.created', 'prealert.received', 'package.created']);
  });
});

describe('sending chosen events again', () => {
  test('redeliver repeats an event at its URL with the same id and content', async () => {
    await choose({ add_package_events: ['prealert.received'] }).ok();
    await receiveAnnounced();
    const [first] = await received(IEX, '/add');
    const deliveries = await api.as('iex').listWebhookDeliveries({ type: 'prealert.received' }).ok();
    const [delivery] = deliveries.data;
    if (!delivery) throw new Error('The log has no delivery.');
    await api
      .as('iex')
      .manageWebhookDeliveries({ action: 'redeliver', delivery_id: delivery.delivery_id })
      .succeeded();
    const [, again, ...more] = await received(IEX, '/add');
    expect(more).toEqual([]);
    expect(again).toEqual(first);
  });

  test('recover_since sends what a URL has missed of its types, and nothing twice', async () => {
    await choose({
      add_package_events: ['package.created', 'prealert.received'],
      update_package_events: ['package.created'],
    }).ok();
    receiverOf(IEX).answer = (request, response) =>
      response.writeHead(request.path === '/add' ? 500 : 204).end();
    await receiveAnnounced();
    await until(
      async () => (await db.query(`select from webhook_deliveries where status = 'failed'`)).length === 2,
      30_000,
    );
    receiverOf(IEX).answer = accept;
    receiverOf(IEX).received.length = 0;
    const recover = () =>
      api
        .as('iex')
        .manageWebhookDeliveries({ action: 'recover_since', since: '2026-01-01 00:00:00' })
        .succeeded();
    expect((await recover()).data).toMatchObject({
      endpoints: {
        add_package: { selected: 2, queued: 2 },
        update_package: { selected: 1, queued: 0 },
      },
    });
    expect((await recover()).data).toMatchObject({ endpoints: { add_package: { queued: 0 } } });
    expect(typesOf(await received(IEX))).toEqual(['package.created', 'prealert.received']);
    expect(await received(IEX, '/update')).toEqual([]);
  });

  test('a synchronisation goes to the URL that has package.updated, and is refused without one', async () => {
    const packageId = await receiveAnnounced();
    await choose({ update_package_events: [] }).ok();
    const dispatch = () =>
      api
        .as('iex')
        .queueDispatch({ package_ids: [packageId] })
        .succeeded();
    expect((await dispatch()).data).toMatchObject({ total_selected: 1, total_queued: 0 });
    await choose({ add_package_events: ['package.updated'] }).ok();
    expect((await dispatch()).data).toMatchObject({ total_queued: 1 });
    await until(async () => typesOf(await received(IEX, '/add')).includes('package.updated'));
    await until(
      async () =>
        (await db.query(`select from package_syncs where package_id = $1 and status = 'sent'`, [packageId]))
          .length === 1,
    );
  });
});
