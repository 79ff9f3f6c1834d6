import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { DEMO } from '../../fixtures/demo/seed.js';
import { maskTrackingNumber } from '../../src/modules/tracking-numbers/masking.js';
import { startService, type Reply, type Service } from '../support/service/service.js';
import { moveDatabaseTo } from '../support/harness/database-zone.js';
import { withService } from '../support/fixture/with-service.js';

const { IEX, HRB, TWO } = DEMO.couriers;
const { demo: DEMO_TENANT } = DEMO.tenants;
const UNKNOWN_ID = '01930a3e-7c1d-7e11-9c5a-000000000000';
const ZONES = ['UTC', 'America/Jamaica', 'Pacific/Kiritimati'];
const MONTH = { start_date: '2024-05-01', end_date: '2024-05-31' };
const ALL_DEMO = { start_date: '2020-01-01', end_date: '2099-12-31' };

const { api, service } = withService();

const preview = (as: string, body: unknown, target: Service = service()) =>
  target.call('previewCourierInvoice', { as, body });

const insert = (table: string, rows: object[], target: Service = service()) => {
  const columns = Object.keys(rows[0] ?? {}).join(', ');
  return target.owner.query(
    `insert into ${table} (${columns}) select ${columns} from jsonb_populate_recordset(null::${table}, $1)`,
    [JSON.stringify(rows)],
  );
};

async function newCourier(airFreightRate = '0'): Promise<string> {
  const id = randomUUID();
  await insert('couriers', [
    {
      tenant_id: DEMO_TENANT,
      id,
      code: id.slice(0, 8),
      name: `Courier ${id}`,
      air_freight_rate: airFreightRate,
    },
  ]);
  return id;
}

type Tier = { start: string; end: string; fee: string };

const addTiers = (courierId: string, tiers: Tier[]) =>
  insert(
    'rate_tiers',
    tiers.map(({ start, end, fee }) => ({
      tenant_id: DEMO_TENANT,
      courier_id: courierId,
      start_weight_lb: start,
      end_weight_lb: end,
      fee_usd: fee,
    })),
  );

type Parcel = {
  weight: string;
  receivedAt?: string;
  manifest?: string | null;
  userCode?: string | null;
  number?: string;
};

let houseNumbers = 0;

async function addPackages(courierId: string, parcels: Parcel[]): Promise<string[]> {
  const rows = parcels.map(
    ({
      weight,
      receivedAt = '2024-05-15T12:00:00Z',
      manifest = null,
      userCode = 'X',
      number = randomUUID(),
    }) => ({
      tenant_id: DEMO_TENANT,
      id: randomUUID(),
      courier_id: courierId,
      user_code: userCode,
      manifest_id: manifest,
      tracking_number: number,
      tracking_key: number,
      house_number: `H${(houseNumbers += 1)}`,
      weight_lb: weight,
      warehouse_id: DEMO.warehouses.primary,
      received_at: receivedAt,
    }),
  );
  await insert('packages', rows);
  return rows.map(({ id }) => id);
}

let manifests = 0;
async function newManifest(awbNumber: string | null): Promise<string> {
  const id = randomUUID();
  const manifest_number = `MAN-20240515-${String((manifests += 1)).padStart(4, '0')}`;
  const warehouse_id = DEMO.warehouses.primary;
  await insert('manifests', [
    { tenant_id: DEMO_TENANT, id, manifest_number, awb_number: awbNumber, warehouse_id },
  ]);
  return id;
}

function expectError(reply: Reply, status: number, code: string, field?: string) {
  expect(reply.body).toMatchObject({ code });
  expect(reply.status).toBe(status);
  if (field) expect(reply.body.errors).toMatchObject([{ field }]);
}

const IEX_TIERS = [
  { start: '0', end: '1', fee: '4.50' },
  { start: '1', end: '10', fee: '12.00' },
  { start: '10', end: '100', fee: '35.00' },
];

describe('amounts', () => {
  test("match the contract's example, with air freight rounded half up", async () => {
    const courierId = await newCourier('1.75');
    await addTiers(courierId, IEX_TIERS);
    const aboard = await newManifest('001-12345675');
    const parcels = [
      { weight: '0.8', receivedAt: '2024-05-02T00:00:00Z' },
      { weight: '4.25', receivedAt: '2024-05-03T00:00:00Z', manifest: aboard },
      { weight: '112', receivedAt: '2024-05-04T00:00:00Z' },
    ];
    const ids = await addPackages(courierId, parcels);
    const { status, body } = await preview('admin', { courier_id: courierId, ...MONTH });
    expect([status, body.message]).toEqual([200, 'Preview of 3 packages.']);
    expect(body.data.summary).toEqual({
      total_packages: 3,
      total_weight: 117.05,
      total_fees: 16.5,
      air_freight_rate: 1.75,
      air_freight_weight: 4.25,
      total_air_freight: 7.44,
      grand_total: 23.94,
    });
    expect(body.data.breakdown).toEqual([
      { range: '0-1 lb', count: 1, rate: 4.5, subtotal: 4.5 },
      { range: '1-10 lb', count: 1, rate: 12, subtotal: 12 },
    ]);
    expect(body.data.packages.map((each: object) => Object.values(each))).toEqual([
      [ids[0], expect.any(String), 0.8, 4.5],
      [ids[1], expect.any(String), 4.25, 12],
      [ids[2], expect.any(String), 112, 0],
    ]);
    expect(body.data.warnings).toEqual(['No tier covers weights above 100 lb; 1 package has no fee.']);
  });

  test('use the lower tier at a shared bound, and bounds are inclusive', async () => {
    const courierId = await newCourier();
    await addTiers(courierId, IEX_TIERS);
    await addPackages(
      courierId,
      ['0.001', '1', '1.001', '10', '10.001', '100', '100.001'].map((weight) => ({ weight })),
    );
    const { packages, breakdown } = (await preview('admin', { courier_id: courierId, ...MONTH })).body.data;
    const feeOf = (weight: number) =>
      packages.find((each: { weight: number }) => each.weight === weight).applied_fee;
    expect([0.001, 1, 1.001, 10, 10.001, 100, 100.001].map(feeOf)).toEqual([4.5, 4.5, 12, 12, 35, 35, 0]);
    expect(breakdown.map(({ count }: { count: number }) => count)).toEqual([2, 2, 2]);
  });

  test('charge air freight for packages on manifests with an AWB number only, and round the sum once', async () => {
    const courierId = await newCourier('0.35');
    const [awb, none, blank] = [await newManifest('001-1'), await newManifest(null), await newManifest('')];
    // 0.35 times 0.030 lb is 0.0105 in total, and 0.0035 for each.
    await addPackages(
      courierId,
      Array.from({ length: 3 }, () => ({ weight: '0.01', manifest: awb })),
    );
    await addPackages(
      courierId,
      [none, blank, null].map((manifest) => ({ weight: '7', manifest })),
    );
    const { summary } = (await preview('admin', { courier_id: courierId, ...MONTH })).body.data;
    expect(summary).toMatchObject({ air_freight_weight: 0.03, total_air_freight: 0.01, total_packages: 6 });
    expect(summary.grand_total).toBe(Number((summary.total_fees + 0.01).toFixed(2)));
  });

  test.each([
    ['0.50', '0.01', 0.01],
    ['0.50', '0.009', 0],
    ['1.00', '1.005', 1.01],
    ['1.00', '2.675', 2.68],
  ])('rounds a rate of %s on %s lb half up to %d', async (rate, weight, total) => {
    const courierId = await newCourier(rate);
    await addPackages(courierId, [{ weight, manifest: await newManifest('1') }]);
    const { summary } = (await preview('admin', { courier_id: courierId, ...MONTH })).body.data;
    expect(summary.total_air_freight).toBe(total);
  });
});

describe('tiers', () => {
  test("are the tenant's default ones if the courier has none", async () => {
    const courierId = await newCourier();
    await addPackages(courierId, [{ weight: '5' }, { weight: '15' }, { weight: '50' }, { weight: '50.001' }]);
    const { breakdown, summary } = (await preview('manager', { courier_id: courierId, ...MONTH })).body.data;
    expect(breakdown.map(({ range, rate }: { range: string; rate: number }) => [range, rate])).toEqual([
      ['0-5 lb', 8],
      ['5-15 lb', 15],
      ['15-50 lb', 40],
    ]);
    expect(summary.total_fees).toBe(63);
  });

  test("are the courier's own as soon as it has one, with plain decimals as labels", async () => {
    const courierId = await newCourier();
    await addTiers(courierId, [{ start: '0.500', end: '2.250', fee: '3.10' }]);
    await addPackages(courierId, [{ weight: '1' }, { weight: '3' }, { weight: '0.499' }]);
    const { breakdown, warnings } = (await preview('admin', { courier_id: courierId, ...MONTH })).body.data;
    expect(breakdown).toEqual([{ range: '0.5-2.25 lb', count: 1, rate: 3.1, subtotal: 3.1 }]);
    expect(warnings).toEqual([
      'No tier covers weights below 0.5 lb; 1 package has no fee.',
      'No tier covers weights above 2.25 lb; 1 package has no fee.',
    ]);
  });

  test('with gaps are reported, whether or not a package falls into one', async () => {
    const courierId = await newCourier();
    await addTiers(courierId, [
      { start: '0', end: '5', fee: '1' },
      { start: '5.01', end: '10', fee: '2' },
      { start: '20', end: '30.5', fee: '3' },
      { start: '30.501', end: '40', fee: '4' },
    ]);
    await addPackages(
      courierId,
      ['12', '19.999', '5'].map((weight) => ({ weight })),
    );
    const { warnings } = (await preview('admin', { courier_id: courierId, ...MONTH })).body.data;
    // 30.5 and 30.501 are adjacent: no weight lies between them.
    expect(warnings).toEqual([
      'No tier covers weights between 5 and 5.01 lb.',
      'No tier covers weights between 10 and 20 lb; 2 packages have no fee.',
    ]);
  });

  test('of a single weight take precedence over a tier that begins there', async () => {
    const courierId = await newCourier();
    await addTiers(courierId, [
      { start: '5', end: '9', fee: '2' },
      { start: '5', end: '5', fee: '1' },
      { start: '0', end: '4.999', fee: '3' },
    ]);
    await addPackages(courierId, [{ weight: '5' }]);
    const { packages, warnings } = (await preview('admin', { courier_id: courierId, ...MONTH })).body.data;
    expect(packages[0].applied_fee).toBe(1);
    expect(warnings).toEqual([]);
  });

  test('if missing leave all packages without a fee and add a warning', async () => {
    await service().owner.query('delete from rate_tiers where tenant_id = $1', [DEMO.tenants.two]);
    const { summary, breakdown, warnings } = (await preview('two/admin', { courier_id: TWO, ...ALL_DEMO }))
      .body.data;
    expect([summary.total_packages, summary.total_fees, breakdown]).toEqual([8, 0, []]);
    expect(warnings).toEqual(['There is no rate table; 8 packages have no fee.']);
  });
});

describe('billing period', () => {
  test.each(ZONES)(
    "is whole UTC days, both ends inclusive, while the database's time zone is %s",
    async (zone) => {
      await moveDatabaseTo(zone, service());
      const courierId = await newCourier();
      const moments = [
        '2024-02-28T23:59:59.999Z',
        '2024-02-29T00:00:00Z',
        '2024-02-29T23:59:59.999Z',
        '2024-03-01T00:00:00Z',
      ];
      const ids = await addPackages(
        courierId,
        moments.map((receivedAt) => ({ weight: '1', receivedAt })),
      );
      const billed = async (start_date: string, end_date: string) => {
        const { packages } = (await preview('admin', { courier_id: courierId, start_date, end_date })).body
          .data;
        return packages.map(({ package_id }: { package_id: string }) => ids.indexOf(package_id));
      };
      expect(await billed('2024-02-29', '2024-02-29')).toEqual([1, 2]);
      expect(await billed('2024-02-28', '2024-02-29')).toEqual([0, 1, 2]);
      expect(await billed('2024-02-29', '2024-03-01')).toEqual([1, 2, 3]);
      expect(await billed('0001-01-01', '9999-12-31')).toEqual([0, 1, 2, 3]);
    },
  );

  test('without packages has zero totals', async () => {
    const { status, body } = await preview('admin', {
      courier_id: IEX,
      start_date: '2001-01-01',
      end_date: '2001-01-31',
    });
    expect([status, body.message]).toEqual([200, 'Preview of 0 packages.']);
    expect(body.data).toMatchObject({ breakdown: [], packages: [], warnings: [] });
    expect(body.data.summary).toEqual({
      total_packages: 0,
      total_weight: 0,
      total_fees: 0,
      air_freight_rate: 1.75,
      air_freight_weight: 0,
      total_air_freight: 0,
      grand_total: 0,
    });
  });

  test('that ends before it starts is rejected with 400 naming end_date', async () => {
    const reply = await preview('admin', {
      courier_id: IEX,
      start_date: '2024-05-02',
      end_date: '2024-05-01',
    });
    expectError(reply, 400, 'validation_failed', 'end_date');
  });

  test.each([
    ['courier_id', undefined],
    ['courier_id', 'IEX'],
    ['courier_id', null],
    ['start_date', undefined],
    ['start_date', '2026-02-30'],
    ['start_date', '01/05/2024'],
    ['end_date', undefined],
    ['end_date', '2023-02-29'],
    ['end_date', 20240531],
  ])('rejects %s %j with 400 and names the field', async (field, value) => {
    expectError(
      await preview('admin', { courier_id: IEX, ...MONTH, [field]: value }),
      400,
      'validation_failed',
      field,
    );
  });
});

describe('parties of a bill', () => {
  test('are the primary warehouse and the courier', async () => {
    const { warehouse, courier } = (await preview('admin', { courier_id: IEX.toUpperCase(), ...ALL_DEMO }))
      .body.data;
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
    const { warehouse } = (await preview('two/admin', { courier_id: TWO, ...ALL_DEMO })).body.data;
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
    service().owner.query(`begin; set local session_replication_role = replica;
      update warehouses set is_primary = ${isPrimary} where id = '${DEMO.warehouses.two}'; commit`);
});

describe('access to previews', () => {
  test('administrators, managers and the courier itself get the same amounts', async () => {
    const replies = await Promise.all(
      ['admin', 'manager', 'iex'].map((as) => preview(as, { courier_id: IEX, ...ALL_DEMO })),
    );
    const [admin, ...others] = replies.map(({ body }) => body.data);
    expect(admin.summary.total_packages).toBeGreaterThan(100);
    for (const other of others)
      expect(other).toMatchObject({ summary: admin.summary, breakdown: admin.breakdown });
  });

  test('masks numbers of unknown customers for couriers and shows them in full to staff', async () => {
    const numberOf = async (as: string, id: string) => {
      const { packages } = (await preview(as, { courier_id: IEX, ...ALL_DEMO })).body.data;
      return packages.find(({ package_id }: { package_id: string }) => package_id === id).tracking_number;
    };
    const { rows } = await service().owner.query(
      'select id, tracking_number, user_code from packages where id = any($1)',
      [[DEMO.packages.customerUnknown.IEX[0], DEMO.packages.available.IEX[0]]],
    );
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
      await service().owner.query(
        "delete from packages where received_at < '2024-04-01' and courier_id = $1",
        [HRB],
      );
      await addPackages(
        HRB,
        numbers.map((number) => ({ weight: '1', number, userCode, receivedAt: '2024-03-15T12:00:00Z' })),
      );
      const body = { courier_id: HRB, start_date: '2024-03-01', end_date: '2024-03-31' };
      const { packages } = (await preview(as, body)).body.data;
      const shown = packages
        .map(({ tracking_number }: { tracking_number: string }) => tracking_number)
        .sort();
      const isMasked = as === 'hrb' && userCode === null;
      expect(shown).toEqual(numbers.map((number) => (isMasked ? maskTrackingNumber(number) : number)).sort());
    }
  });

  test("rejects a courier's request for a sibling, foreign or unknown courier with identical responses", async () => {
    const replies = await Promise.all(
      [HRB, TWO, UNKNOWN_ID].map((courier_id) => preview('iex', { courier_id, ...MONTH })),
    );
    for (const reply of replies) expectError(reply, 403, 'record_forbidden');
    expect(new Set(replies.map(({ body }) => body.message)).size).toBe(1);
  });

  test("responds to staff about another tenant's courier as about an unknown one", async () => {
    const replies = await Promise.all(
      [TWO, UNKNOWN_ID].map((courier_id) => preview('admin', { courier_id, ...MONTH })),
    );
    for (const reply of replies) expectError(reply, 404, 'courier_not_found');
    expect(replies[0]?.body.message).toBe(replies[1]?.body.message);
  });

  test('is denied to the warehouse role, anonymous callers and disabled accounts', async () => {
    const body = { courier_id: IEX, ...MONTH };
    expectError(await preview('warehouse', body), 403, 'permission_denied');
    await api.anonymous.previewCourierInvoice(body).refused(401, 'token_missing');
    expectError(await preview('disabled', body), 403, 'account_disabled');
  });
});

test('a preview stores nothing', async () => {
  const counts = () =>
    service().owner
      .query(`select (select count(*) from bills) as bills, (select count(*) from events) as events,
      (select count(*) from manifest_mails) as mailed, (select count(*) from graphile_worker._private_jobs) as jobs,
      (select count(*) from audit_entries) as audited, (select max(updated_at) from packages) as touched`);
  const before = (await counts()).rows;
  await preview('admin', { courier_id: IEX, ...ALL_DEMO });
  expect((await counts()).rows).toEqual(before);
});

test.each([
  ["the application's filters alone", { rowSecurity: false }],
  ['row-level security alone', { applicationFilters: false }],
])(
  'with %s, previews have the same amounts and other couriers are denied',
  async (_name, options) => {
    const other = await startService(options);
    // Tenant two's only tier is narrower than the demo tenant's. It would win if a statement mixed both tables.
    const { two } = DEMO.tenants;
    await other.owner.query('delete from rate_tiers where tenant_id = $1 and start_weight_lb <> 5', [two]);
    await other.owner.query(
      'update rate_tiers set fee_usd = 999, end_weight_lb = 14.999 where tenant_id = $1',
      [two],
    );
    await other.owner.query('update packages set weight_lb = 10 where tenant_id = $1', [two]);
    for (const [as, courier_id] of [
      ['admin', HRB],
      ['iex', IEX],
      ['hrb', HRB],
      ['two/admin', TWO],
    ] as const) {
      const there = (await preview(as, { courier_id, ...ALL_DEMO }, other)).body.data;
      const { rows } = await other.owner.query(
        'select count(*)::int as n from packages where courier_id = $1',
        [courier_id],
      );
      expect(there.summary.total_packages).toBe(rows[0].n);
      const isOddOneOut = ({ applied_fee }: { applied_fee: number }) =>
        (applied_fee === 999) !== (courier_id === TWO);
      expect(there.packages.filter(isOddOneOut)).toEqual([]);
      const fees = there.packages.reduce(
        (sum: number, each: { applied_fee: number }) => sum + Math.round(each.applied_fee * 100),
        0,
      );
      expect(Math.round(there.summary.total_fees * 100)).toBe(fees);
    }
    expectError(await preview('admin', { courier_id: TWO, ...ALL_DEMO }, other), 404, 'courier_not_found');
    expectError(await preview('iex', { courier_id: HRB, ...ALL_DEMO }, other), 403, 'record_forbidden');
    await other.stop();
  },
  60_000,
);
