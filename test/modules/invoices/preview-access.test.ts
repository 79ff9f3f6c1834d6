import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { maskTrackingNumber } from '../../../src/modules/tracking-numbers/masking.js';
import { withService } from '../../support/fixture/with-service.js';
import { makePreviews, ALL_DEMO, UNKNOWN_ID, MONTH } from './previewed-packages.js';

const { IEX, HRB, TWO } = DEMO.couriers;

const fixture = withService();
const { api, db } = fixture;
const { preview, addPackages } = makePreviews(fixture);

describe('parties of a bill', () => {
  test('are the primary warehouse and the courier', async () => {
    const { warehouse, courier } = (
      await preview('admin', { courier_id: IEX.toUpperCase(), ...ALL_DEMO }).ok()
    ).data;
    expect(warehouse).toEqual({
      name: 'Miami Gateway',
      address: '8200 NW 41st Street',
      city: 'Miami',
      country: 'United States',
      phone: '+1 305 555 0180',
      email: 'dock@miami-gateway.example',
    });
    expect(courier).toMatchObject({
      courier_id: IEX,
      courier_name: 'Island Express',
      courier_code: 'IEX',
      phone_number1: '+1 876 555 0142',
    });
  });

  test("use the tenant's name if there is no primary warehouse", async () => {
    await setPrimary(false);
    const { warehouse } = (await preview('two/admin', { courier_id: TWO, ...ALL_DEMO }).ok()).data;
    await setPrimary(true);
    expect(warehouse).toEqual({
      name: 'Tampa Bay Freight',
      address: '',
      city: null,
      country: null,
      phone: null,
      email: null,
    });
  });

  /** No operation can do this, and a trigger prevents it. */
  const setPrimary = (isPrimary: boolean) =>
    db.query(`begin; set local session_replication_role = replica;
      update warehouses set is_primary = ${isPrimary} where id = '${DEMO.warehouses.two}'; commit`);
});

describe('access to previews', () => {
  test('administrators, managers and the courier itself get the same amounts', async () => {
    const replies = await Promise.all(
      ['admin', 'manager', 'iex'].map((as) => preview(as, { courier_id: IEX, ...ALL_DEMO }).ok()),
    );
    const [admin, ...others] = replies.map(({ data }) => data);
    expect(admin?.summary.total_packages).toBeGreaterThan(100);
    for (const other of others)
      expect(other).toMatchObject({ summary: admin?.summary, breakdown: admin?.breakdown });
  });

  test('masks numbers of unknown customers for couriers and shows them in full to staff', async () => {
    const numberOf = async (as: string, id: string) => {
      const { packages } = (await preview(as, { courier_id: IEX, ...ALL_DEMO }).ok()).data;
      return packages.find(({ package_id }) => package_id === id)?.tracking_number;
    };
    const ids = [DEMO.packages.customerUnknown.IEX[0], DEMO.packages.available.IEX[0]].map(String);
    const rows = await db.all('packages', { id: ids });
    expect(rows).toHaveLength(2);
    for (const { id, tracking_number, user_code } of rows) {
      expect(await numberOf('admin', id)).toBe(tracking_number);
      expect(await numberOf('iex', id)).toBe(
        user_code ? tracking_number : maskTrackingNumber(tracking_number),
      );
    }
  });

  test('returns numbers with any characters unchanged, masked by the same rule as lists', async () => {
    const numbers = [
      'A',
      'ABCD',
      'ABCDE',
      '12 34',
      '😀😀😀😀😀é',
      '😀😀',
      '"\\/\u2028</b>',
      "it's\tä\u0001\u007f",
      '${1}$&',
    ];
    for (const [as, userCode] of [
      ['admin', 'X'],
      ['admin', null],
      ['hrb', 'X'],
      ['hrb', null],
    ] as const) {
      await db.query("delete from packages where received_at < '2024-04-01' and courier_id = $1", [HRB]);
      await addPackages(
        HRB,
        numbers.map((number) => ({ weight: '1', number, userCode, receivedAt: '2024-03-15T12:00:00Z' })),
      );
      const body = { courier_id: HRB, start_date: '2024-03-01', end_date: '2024-03-31' };
      const { packages } = (await preview(as, body).ok()).data;
      const shown = packages.map(({ tracking_number }) => tracking_number).sort();
      const isMasked = as === 'hrb' && userCode === null;
      expect(shown).toEqual(numbers.map((number) => (isMasked ? maskTrackingNumber(number) : number)).sort());
    }
  });

  test("rejects a courier's request for a sibling, foreign or unknown courier with identical responses", async () => {
    const replies = await Promise.all(
      [HRB, TWO, UNKNOWN_ID].map((courier_id) =>
        preview('iex', { courier_id, ...MONTH }).refused(403, 'record_forbidden'),
      ),
    );
    expect(new Set(replies.map(({ message }) => message)).size).toBe(1);
  });

  test("responds to staff about another tenant's courier as about an unknown one", async () => {
    const replies = await Promise.all(
      [TWO, UNKNOWN_ID].map((courier_id) =>
        preview('admin', { courier_id, ...MONTH }).refused(404, 'courier_not_found'),
      ),
    );
    expect(replies[0]?.message).toBe(replies[1]?.message);
  });

  test('is denied to the warehouse role, anonymous callers and disabled accounts', async () => {
    const body = { courier_id: IEX, ...MONTH };
    await preview('warehouse', body).refused(403, 'permission_denied');
    await api.anonymous.previewCourierInvoice(body).refused(401, 'token_missing');
    await preview('disabled', body).refused(403, 'account_disabled');
  });
});

test('a preview stores nothing', async () => {
  const counts = () =>
    db.query(`select (select count(*) from bills) as bills, (select count(*) from events) as events,
      (select count(*) from manifest_mails) as mailed, (select count(*) from graphile_worker._private_jobs) as jobs,
      (select count(*) from audit_entries) as audited, (select max(updated_at) from packages) as touched`);
  const before = await counts();
  await preview('admin', { courier_id: IEX, ...ALL_DEMO }).ok();
  expect(await counts()).toEqual(before);
});

describe.each([
  ["the application's filters alone", { rowSecurity: false }],
  ['row-level security alone', { applicationFilters: false }],
])('with %s, previews', (_name, options) => {
  const other = withService(options);
  const there = makePreviews(other);

  test('have the same amounts and other couriers are denied', async () => {
    // Tenant two's only tier is narrower than the demo tenant's. It would win if a statement mixed both tables.
    const { two } = DEMO.tenants;
    await other.db.query('delete from rate_tiers where tenant_id = $1 and start_weight_lb <> 5', [two]);
    await other.db.query('update rate_tiers set fee_usd = 999, end_weight_lb = 14.999 where tenant_id = $1', [
      two,
    ]);
    await other.db.query('update packages set weight_lb = 10 where tenant_id = $1', [two]);
    for (const [as, courier_id] of [
      ['admin', HRB],
      ['iex', IEX],
      ['hrb', HRB],
      ['two/admin', TWO],
    ] as const) {
      const { data } = await there.preview(as, { courier_id, ...ALL_DEMO }).ok();
      expect(data.summary.total_packages).toBe(await other.db.count('packages', { courier_id }));
      const isOddOneOut = ({ applied_fee }: { applied_fee: number }) =>
        (applied_fee === 999) !== (courier_id === TWO);
      expect(data.packages.filter(isOddOneOut)).toEqual([]);
      const cents = data.packages.map(({ applied_fee }) => Math.round(applied_fee * 100));
      expect(Math.round(data.summary.total_fees * 100)).toBe(cents.reduce((sum, each) => sum + each, 0));
    }
    await there.preview('admin', { courier_id: TWO, ...ALL_DEMO }).refused(404, 'courier_not_found');
    await there.preview('iex', { courier_id: HRB, ...ALL_DEMO }).refused(403, 'record_forbidden');
  });
});
