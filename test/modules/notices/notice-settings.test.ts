import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withNotices } from '../../support/fixture/with-notices.js';
import { withService } from '../../support/fixture/with-service.js';
import { makeNoticeCalls } from './notice-calls.js';

const fixture = withNotices();
const { api, db, outbox, service, tell, tellNow } = fixture;
const { log, newCustomer, receive, record, settings, statesOf } = makeNoticeCalls(fixture);

const read = async (as = 'iex') => (await api.as(as).getNoticeSettings({}).ok()).data;

describe('the settings', () => {
  test('are off at first, and nobody is told', async () => {
    expect(await read()).toEqual({
      courier_id: DEMO.couriers.IEX,
      is_enabled: false,
      is_available: true,
      sends_mail: true,
      states: ['received', 'shipped', 'delivered'],
      language: 'en',
      quiet_hours: null,
      time_zone: null,
      reply_to: null,
      signature: null,
      mails_left_today: 20_000,
      failed_mails: 0,
      updated_at: null,
    });
    const customer = await newCustomer();
    await receive(customer);
    await tellNow();
    expect(await log()).toEqual([]);
  });

  test('change the given fields only, are audited, and are stored as they are shown', async () => {
    const changed = {
      states: ['delivered', 'received'],
      language: 'es',
      quiet_hours: { from: '21:00', to: '07:30' },
      time_zone: 'America/Costa_Rica',
      reply_to: 'desk@island.example',
      signature: 'Open\nfrom 8 to 17',
    };
    const { data } = await settings(changed).ok();
    expect(data).toMatchObject({ ...changed, states: ['received', 'delivered'], is_enabled: false });
    const [row] = await db.all('notice_settings', { courier_id: DEMO.couriers.IEX });
    expect(row).toEqual({
      tenant_id: DEMO.tenants.demo,
      courier_id: DEMO.couriers.IEX,
      is_enabled: false,
      sends_mail: true,
      states: ['received', 'delivered'],
      language: 'es',
      quiet_from: '21:00',
      quiet_to: '07:30',
      time_zone: 'America/Costa_Rica',
      reply_to: 'desk@island.example',
      signature: 'Open\nfrom 8 to 17',
      last_sequence: expect.any(String),
      told_since: expect.any(Date),
      updated_at: expect.any(Date),
    });
    const again = await settings({ ...changed, states: ['received', 'delivered'] }).ok();
    expect(again.message).toBe('The settings already have these values. Nothing was changed.');
    const { rows } = await service().owner.query(
      "select before, after from audit_entries where action = 'courier.notice_settings_changed'",
    );
    expect(rows).toEqual([
      {
        before: {
          states: 'received shipped delivered',
          language: 'en',
          quiet_from: null,
          quiet_to: null,
          time_zone: null,
          reply_to: null,
          signature: null,
        },
        after: {
          states: 'received delivered',
          language: 'es',
          quiet_from: '21:00',
          quiet_to: '07:30',
          time_zone: 'America/Costa_Rica',
          reply_to: 'desk@island.example',
          signature: 'Open\nfrom 8 to 17',
        },
      },
    ]);
    await settings({ quiet_hours: null, language: 'en', states: ['received'] }).ok();
  });

  test.each([
    ['time_zone', { time_zone: 'Mars/Olympus' }],
    ['quiet_hours', { quiet_hours: { from: '08:00', to: '08:00' } }],
    ['quiet_hours.from', { quiet_hours: { from: '24:00', to: '08:00' } }],
    ['reply_to', { reply_to: 'nobody' }],
    ['states', { states: [] }],
  ])('refuse a wrong %s', async (field, sent) => {
    const { body, status } = await settings(sent).answer();
    expect({ status, fields: (body.errors as { field: string }[]).map((error) => error.field) }).toEqual({
      status: 400,
      fields: [field],
    });
  });

  test('are read and changed by managers, who name the courier', async () => {
    await api.as('manager').getNoticeSettings({}).refused(400, 'validation_failed');
    const courier_id = DEMO.couriers.HRB;
    const { data } = await settings({ courier_id, is_enabled: true }, 'manager').ok();
    expect(data).toMatchObject({ courier_id, is_enabled: true });
    expect((await read('hrb')).is_enabled).toBe(true);
    await settings({ courier_id, is_enabled: false }, 'manager').ok();
  });

  test('cannot be switched on where mails would have no link', async () => {
    await unavailable.api
      .as('iex')
      .updateNoticeSettings(unchecked({ is_enabled: true }))
      .refused(409, 'notices_unavailable');
    const { data } = await unavailable.api
      .as('iex')
      .updateNoticeSettings(unchecked({ language: 'es' }))
      .ok();
    expect(data).toMatchObject({ is_enabled: false, is_available: false, language: 'es' });
  });
});

const unavailable = withService({ config: { publicUrl: undefined } });

describe('what has happened', () => {
  test('before notices are switched on is not told, also if the parcel is changed later', async () => {
    const customer = await newCustomer();
    const { id } = await receive(customer);
    await settings({ is_enabled: true, states: ['received', 'on_hold'] }).ok();
    await service().owner.query(
      `insert into events (tenant_id, id, courier_id, sequence, type, package_id, data)
       select e.tenant_id, gen_random_uuid(), e.courier_id, k.last_sequence + 1, 'package.updated', e.package_id, e.data
       from events e join event_counters k on k.tenant_id = e.tenant_id and k.courier_id = e.courier_id
       where e.package_id = $1 and e.type = 'package.created'`,
      [id],
    );
    await service().owner.query(
      'update event_counters set last_sequence = last_sequence + 1 where courier_id = $1',
      [DEMO.couriers.IEX],
    );
    await tellNow();
    expect(await statesOf(customer)).toEqual([]);
    await record([id], 'on_hold').ok();
    await tellNow();
    expect(await statesOf(customer)).toEqual(['on_hold sent']);
  });

  test('while they are switched off is not told afterwards, and what was held is cancelled', async () => {
    const customer = await newCustomer();
    const { id } = await receive(customer);
    await tell();
    await settings({ is_enabled: false }).ok();
    await record([id], 'on_hold').ok();
    await tellNow();
    expect(await log({ user_code: customer.userCode })).toMatchObject([
      { state: 'received', status: 'cancelled', reason: 'switched_off' },
    ]);
    await settings({ is_enabled: true }).ok();
    await tellNow();
    expect(await outbox.to(customer.email)).toEqual([]);
  });

  test('to a courier that is inactive is not told', async () => {
    const customer = await newCustomer();
    await receive(customer);
    await tell();
    const setActive = (isActive: boolean) =>
      service().owner.query('update couriers set is_active = $2 where id = $1', [
        DEMO.couriers.IEX,
        isActive,
      ]);
    await setActive(false);
    await tellNow();
    await setActive(true);
    expect(await outbox.to(customer.email)).toEqual([]);
    expect(await statesOf(customer)).toEqual(['received cancelled']);
  });
});
