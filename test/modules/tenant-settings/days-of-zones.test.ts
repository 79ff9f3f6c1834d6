import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { startOfDay } from '../../../src/platform/db/filters.js';
import { join, sql } from '../../../src/platform/db/statements.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { withService } from '../../support/fixture/with-service.js';
import { makeDeliveries } from '../webhooks/deliveries/planted-deliveries.js';
import { idsOf, makePackageList } from '../packages/list/listed-packages.js';

const fixture = withService();
const { api, service } = fixture;
const { addPackages } = makePackageList(fixture);

const setZone = (time_zone: string) => api.as('admin').updateTenantSettings({ time_zone }).ok();
const at = (received_at: string) => ({ received_at, courier_id: DEMO.couriers.IEX, user_code: 'IEX-1001' });

describe('days of the tenant', () => {
  test('filter packages in lists and exports; without day_zone they are those of UTC', async () => {
    await setZone('America/New_York');
    // The clock goes forward on March 12 and back on November 5: these days have 23 and 25 hours.
    const moments = [
      ['2023-03-12T04:59:59Z', '2023-03-11'],
      ['2023-03-12T05:00:00Z', '2023-03-12'],
      ['2023-03-13T03:59:59Z', '2023-03-12'],
      ['2023-03-13T04:00:00Z', '2023-03-13'],
      ['2023-11-05T03:59:59Z', '2023-11-04'],
      ['2023-11-05T04:00:00Z', '2023-11-05'],
      ['2023-11-06T04:59:59Z', '2023-11-05'],
      ['2023-11-06T05:00:00Z', '2023-11-06'],
    ] as const;
    const ids = await addPackages(moments.map(([moment]) => at(moment)));
    for (const day of new Set(moments.map(([, date]) => date))) {
      const days = { entryDateFloor: day, entryDateCeiling: day };
      const inZone = ids.filter((_, index) => moments[index]?.[1] === day).sort();
      const inUtc = ids.filter((_, index) => moments[index]?.[0].slice(0, 10) === day).sort();
      const list = (query: object) => api.as('iex').listPackages({ ...days, ...query, page: 1, limit: 50 });
      expect(idsOf(await list({ day_zone: 'tenant' }).ok()).sort()).toEqual(inZone);
      expect(idsOf(await list({ day_zone: 'utc' }).ok()).sort()).toEqual(inUtc);
      expect(idsOf(await list({}).ok()).sort()).toEqual(inUtc);
      const file = await api
        .as('iex')
        .exportPackagesCsv({ ...days, day_zone: 'tenant' })
        .answer();
      expect(ids.filter((id) => file.bytes.toString().includes(id)).sort()).toEqual(inZone);
    }
  });

  test('count packages and work per local day and hour, also on a day of 25 hours', async () => {
    await setZone('America/New_York');
    const period = { from: '2023-11-05', to: '2023-11-05', courier_id: DEMO.couriers.IEX };
    // 01:30 comes twice.
    await addPackages([at('2023-11-05T05:30:00Z'), at('2023-11-05T06:30:00Z')]);
    const read = async (day_zone?: 'tenant') =>
      (
        await api
          .as('manager')
          .getPackageStatistics({ ...period, ...(day_zone ? { day_zone } : {}) })
          .ok()
      ).data;
    const local = await read('tenant');
    expect(local.days).toMatchObject([{ date: '2023-11-05', count: 4 }]);
    const hours = local.hours.filter(({ count }) => count > 0).map(({ hour, count }) => [hour, count]);
    expect(hours).toEqual([
      [0, 1],
      [1, 2],
      [23, 1],
    ]);
    expect((await read()).hours.filter(({ count }) => count > 0).map(({ hour }) => hour)).toEqual([
      3, 4, 5, 6,
    ]);

    await addPackages([{ ...at('2024-01-02T03:00:00Z'), user_code: null }]);
    const work = { from: '2024-01-01', to: '2024-01-01', courier_id: DEMO.couriers.IEX };
    const unknownOf = async (query: object) =>
      (
        await api
          .as('manager')
          .getWorkStatistics({ ...work, ...query })
          .ok()
      ).data.total.unknown;
    expect([await unknownOf({ day_zone: 'tenant' }), await unknownOf({})]).toEqual([1, 0]);
  });

  test('filter the audit log and the webhook deliveries', async () => {
    await setZone('Asia/Kolkata');
    const moment = '2025-02-01T18:29:59Z';
    await service().owner.query(
      `insert into audit_entries (tenant_id, id, at, actor_kind, actor_id, action, entity, entity_id, request_id)
       select $1, new_id(), $2, 'api_key', $3, 'package.updated', 'package', gen_random_uuid(), new_id()`,
      [DEMO.tenants.demo, moment, DEMO.couriers.IEX],
    );
    await makeDeliveries(fixture).insertSent(DEMO.couriers.IEX);
    await service().owner.query('update webhook_deliveries set created_at = $1', ['2025-02-01T18:30:00Z']);
    const entries = async (day: string, query: object = { day_zone: 'tenant' }) =>
      (
        await api
          .as('admin')
          .listAuditEntries({ from: day, to: day, ...query })
          .ok()
      ).data.length;
    expect([await entries('2025-02-01'), await entries('2025-02-02')]).toEqual([1, 0]);
    const deliveries = async (day: string, query: object = { day_zone: 'tenant' }) =>
      (
        await api
          .as('admin')
          .listWebhookDeliveries({ from: day, to: day, ...query })
          .ok()
      ).data.length;
    const counts = [await deliveries('2025-02-01'), await deliveries('2025-02-02')];
    expect([...counts, await deliveries('2025-02-01', {})]).toEqual([0, 1, 1]);
  });

  // Havana sets the clock back from 1:00 to midnight, Nuuk from midnight, Lord Howe by half an hour, Apia has skipped December 30, 2011.
  test.each([
    'America/New_York',
    'America/Havana',
    'America/Nuuk',
    'Atlantic/Azores',
    'Australia/Lord_Howe',
    'America/Santiago',
    'Asia/Beirut',
    'Pacific/Apia',
    'UTC',
  ])('begin in %s at the first moment with their date, on each day of two years', async (zone) => {
    const starts = Array.from({ length: 731 }, (_, n) => {
      const day = new Date(Date.UTC(2010, 11, 1 + n)).toISOString().slice(0, 10);
      return sql`(${day}::date, ${startOfDay(day, zone)})`;
    });
    const caller = { kind: 'system', tenantId: DEMO.tenants.demo } as const;
    const [faults] = await makeContext(service().db, caller, 'a-request').read([
      sql`select s.day::text from (values ${join(starts)}) as s (day, start)
        where (s.start at time zone ${zone})::date < s.day
          or ((s.start - interval '1 second') at time zone ${zone})::date >= s.day`,
    ]);
    expect(faults).toEqual([]);
  });
});
