import { beforeAll, describe, expect, test } from '@jest/globals';
import { quietUntil } from '../../../src/modules/notices/telling/quiet-hours.js';
import { sql } from '../../../src/platform/db/statements.js';
import { withNotices } from '../../support/fixture/with-notices.js';
import { makeNoticeCalls } from './notice-calls.js';

const fixture = withNotices();
const { outbox, pass, service, tell, tellNow, work } = fixture;
const { newCustomer, receive, settings, statesOf } = makeNoticeCalls(fixture);

beforeAll(async () => {
  await settings({ is_enabled: true, states: ['received'] }).ok();
});

/** When the quiet hours end in which a time is, or null. */
async function endOf(
  at: string,
  [from, to]: readonly [string, string],
  zone: string,
): Promise<string | null> {
  const statement = sql<{ until: Date | null }>`select ${quietUntil(sql`${at}::timestamptz`, {
    from: sql`${from}::text`,
    to: sql`${to}::text`,
    zone: sql`${zone}::text`,
  })} as until`;
  const { rows } = await service().owner.query<{ until: Date | null }>({
    text: statement.text,
    values: statement.values as unknown[],
  });
  return rows[0]?.until?.toISOString().slice(0, 16) ?? null;
}

const NIGHT = ['21:00', '07:30'] as const;
const NOON = ['12:00', '14:00'] as const;

describe('quiet hours', () => {
  test.each([
    // Costa Rica is six hours behind UTC, all year.
    ['before them', '2026-12-01T02:59:59Z', NIGHT, 'America/Costa_Rica', null],
    ['from their first moment', '2026-12-01T03:00:00Z', NIGHT, 'America/Costa_Rica', '2026-12-01T13:30'],
    ['at midnight', '2026-12-01T06:00:00Z', NIGHT, 'America/Costa_Rica', '2026-12-01T13:30'],
    ['after midnight', '2026-12-01T13:29:59Z', NIGHT, 'America/Costa_Rica', '2026-12-01T13:30'],
    ['from the moment of their end', '2026-12-01T13:30:00Z', NIGHT, 'America/Costa_Rica', null],
    ['at the turn of a year', '2027-01-01T04:00:00Z', NIGHT, 'America/Costa_Rica', '2027-01-01T13:30'],
    ['within a day', '2026-12-01T18:30:00Z', NOON, 'America/Costa_Rica', '2026-12-01T20:00'],
    ['in the morning of such a day', '2026-12-01T17:59:00Z', NOON, 'America/Costa_Rica', null],
    ['in a zone ahead of UTC', '2026-12-01T13:00:00Z', NIGHT, 'Asia/Manila', '2026-12-01T23:30'],
    // In New York, clocks are set forward on 2026-03-08 and back on 2026-11-01, at 2:00.
    [
      'in the night when clocks are set forward',
      '2026-03-08T03:00:00Z',
      NIGHT,
      'America/New_York',
      '2026-03-08T11:30',
    ],
    ['in the night before', '2026-03-07T03:00:00Z', NIGHT, 'America/New_York', '2026-03-07T12:30'],
    [
      'in the night when clocks are set back',
      '2026-11-01T02:00:00Z',
      NIGHT,
      'America/New_York',
      '2026-11-01T12:30',
    ],
    ['in the night before that', '2026-10-31T02:00:00Z', NIGHT, 'America/New_York', '2026-10-31T11:30'],
    [
      'that end at a time that does not exist',
      '2026-03-08T06:30:00Z',
      ['21:00', '02:30'],
      'America/New_York',
      '2026-03-08T07:30',
    ],
    [
      'that end at a time that exists twice',
      '2026-11-01T05:15:00Z',
      ['21:00', '01:30'],
      'America/New_York',
      '2026-11-01T06:30',
    ],
    [
      'in the hour that exists twice, the second time',
      '2026-11-01T06:15:00Z',
      ['21:00', '01:30'],
      'America/New_York',
      '2026-11-01T06:30',
    ],
  ] as const)('are right %s', async (_when, at, hours, zone, expected) => {
    expect(await endOf(at, hours, zone)).toBe(expected);
  });
});

/** Quiet hours of UTC around the present minute, and those that have just passed. */
function around(fromMinutes: number, toMinutes: number) {
  const clock = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16);
  return { quiet_hours: { from: clock(fromMinutes), to: clock(toMinutes) }, time_zone: 'UTC' };
}

const dueAt = async (id: string) => {
  const { rows } = await service().owner.query<{ due_at: Date }>(
    'select due_at from notices where customer_id = $1',
    [id],
  );
  return rows.map(({ due_at: at }) => at.toISOString().slice(11, 16));
};

describe('a mail', () => {
  test('is held until the end of the quiet hours, with what comes meanwhile, and looked at once', async () => {
    const hours = around(-60, 120);
    await settings(hours).ok();
    const customer = await newCustomer();
    await receive(customer);
    await receive(customer);
    await tell();
    await pass();
    await tell();
    await tell();
    expect(await statesOf(customer)).toEqual(['received held', 'received held']);
    expect(await dueAt(customer.id)).toEqual([hours.quiet_hours.to, hours.quiet_hours.to]);
    expect(await outbox.to(customer.email)).toEqual([]);
    await settings(around(-120, -60)).ok();
    await tell();
    await work();
    expect((await outbox.to(customer.email)).map(({ subject }) => subject)).toEqual([
      '2 parcels are at the warehouse (Island Express)',
    ]);
  });

  test('that is queued when they begin is sent when they end, by one job', async () => {
    await settings({ quiet_hours: null }).ok();
    const customer = await newCustomer();
    await receive(customer);
    await tell();
    await pass();
    await tell();
    const hours = around(-60, 120);
    await settings(hours).ok();
    await work();
    expect(await outbox.to(customer.email)).toEqual([]);
    const { rows } = await service().owner.query<{ run_at: Date }>(
      `select j.run_at from graphile_worker._private_jobs j join notice_mails m on m.id = (j.payload ->> 'mailId')::uuid where m.customer_id = $1`,
      [customer.id],
    );
    expect(rows.map(({ run_at: at }) => at.toISOString().slice(11, 16))).toEqual([hours.quiet_hours.to]);
    await settings({ quiet_hours: null }).ok();
    await service().owner.query('update graphile_worker._private_jobs set run_at = now()');
    await work();
    expect(await outbox.to(customer.email)).toHaveLength(1);
  });

  test('follows the time zone of the warehouse if the courier names none', async () => {
    const zone = 'Pacific/Kiritimati';
    await fixture.api
      .as('admin')
      .updateTenantSettings({ time_zone: zone, currency: undefined, missing_after_hours: undefined })
      .ok();
    // Fourteen hours ahead of UTC.
    const { quiet_hours } = around(14 * 60 - 60, 14 * 60 + 60);
    await settings({ quiet_hours, time_zone: null }).ok();
    const customer = await newCustomer();
    await receive(customer);
    await tellNow();
    expect(await statesOf(customer)).toEqual(['received held']);
    await settings({ quiet_hours: null }).ok();
    await tellNow();
    expect(await statesOf(customer)).toEqual(['received sent']);
  });
});
