import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import pg from 'pg';
import { openSecrets } from '../../src/platform/access/secrets.js';
import { developmentConfig } from '../support/staging/development.js';
import { DEMO, DEMO_BACKUP_CODES, seedDemo } from '../../fixtures/demo/seed.js';
import { isHouseNumber } from '../../src/modules/packages/intake/house-number.js';
import { trackingKey } from '../../src/modules/tracking-numbers/tracking-key.js';
import { freshDatabase } from '../support/service/database.js';

const NOW = new Date('2026-11-21T14:30:00Z');
// Another month, at a time of day at which packages could fall outside a period.
const LATER = new Date('2027-03-01T00:00:05Z');
const CALLERS = 8;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
// Values that may differ between loads: dates, values derived from dates, salts and nonces.
const VOLATILE = [
  ...['created_at', 'updated_at', 'received_at', 'occurred_at', 'start_date', 'end_date', 'flight_date'],
  ...['published_at', 'received_on', 'recorded_at'],
  ...['manifest_number', 'password_hash', 'totp_secret', 'api_key_cipher'],
];
const TABLES = [
  ...[
    'tenant_hosts',
    'warehouses',
    'couriers',
    'users',
    'backup_codes',
    'rate_tiers',
    'carriers',
    'airlines',
  ],
  ...['customers', 'prealerts', 'packages', 'package_events', 'manifests', 'bills'],
  ...['bill_lines', 'bill_payments', 'bill_counters'],
];

const secrets = openSecrets(developmentConfig({}).secrets);
const closings: (() => Promise<unknown>)[] = [];
let client: pg.Client;

beforeAll(async () => {
  client = await connect((await openDatabase()).ownerUrl);
  await seedDemo(client, secrets, NOW);
}, 30_000);

// In reverse order, because a database with connections cannot be dropped. Dropping one waits for a
// checkpoint.
afterAll(async () => {
  for (const close of closings.reverse()) await close();
}, 60_000);

describe('loading the demo data', () => {
  test(`one of ${CALLERS} parallel loads succeeds`, async () => {
    const { ownerUrl } = await openDatabase();
    const clients = await Promise.all(Array.from({ length: CALLERS }, () => connect(ownerUrl)));
    const loaded = await Promise.all(clients.map((each) => seedDemo(each, secrets, NOW)));
    expect(loaded.filter(Boolean)).toHaveLength(1);
    expect(await rows('select slug from tenants order by slug', clients[0])).toEqual([
      { slug: 'demo' },
      { slug: 'two' },
    ]);
  });

  test('a second load changes nothing', async () => {
    const before = await everything(client);
    expect(await seedDemo(client, secrets, LATER)).toBe(false);
    expect(await everything(client)).toEqual(before);
  });

  test('a failed load leaves the database empty, and the next one succeeds', async () => {
    const owner = await connect((await openDatabase()).ownerUrl);
    const broken = { ...secrets, lookupHash: () => 'the same for all' };
    await expect(seedDemo(owner, broken, NOW)).rejects.toThrow('unique');
    expect(await rows('select slug from tenants', owner)).toEqual([]);
    expect(await seedDemo(owner, secrets, NOW)).toBe(true);
  });

  test('ids, names, numbers and weights are the same in every load', async () => {
    const other = await connect((await openDatabase()).ownerUrl);
    expect(await seedDemo(other, secrets, LATER)).toBe(true);
    expect(await everything(other)).toEqual(await everything(client));
  });

  test('the tenant scope ends with the load', async () => {
    expect(await rows("select nullif(current_setting('app.tenant_id', true), '') as scope")).toEqual([
      { scope: null },
    ]);
  });
});

describe('the demo tenant', () => {
  beforeAll(() => enter(DEMO.tenants.demo));

  test("is served on any host except the other tenant's", async () => {
    expect(await rows('select tenant_id, host from tenant_hosts order by host')).toEqual(
      expect.arrayContaining([
        { tenant_id: DEMO.tenants.demo, host: '*' },
        { tenant_id: DEMO.tenants.two, host: 'two.localhost' },
      ]),
    );
  });

  test('has users with their roles and one common password', async () => {
    const users = await rows(
      `select id, username, role, courier_id, is_active, two_factor_enabled, password_hash from users
       where tenant_id = '${DEMO.tenants.demo}' order by id`,
    );
    const user = (username: keyof typeof DEMO.users, role: string, other = {}) => ({
      ...{ id: DEMO.users[username], username, role, password_hash: expect.any(String) },
      ...{ courier_id: null, is_active: true, two_factor_enabled: false, ...other },
    });
    expect(users).toEqual([
      user('admin', 'admin'),
      user('manager', 'manager'),
      user('warehouse', 'warehouse'),
      user('iex', 'courier', { courier_id: DEMO.couriers.IEX }),
      user('hrb', 'courier', { courier_id: DEMO.couriers.HRB }),
      user('disabled', 'manager', { is_active: false }),
      user('guarded', 'manager', { two_factor_enabled: true }),
    ]);
    const hashes = [...new Set(users.map(({ password_hash: hash }) => String(hash)))];
    expect(hashes).toHaveLength(1);
    expect(await bcrypt.compare('crossdock-demo', String(hashes[0]))).toBe(true);
  });

  test('has a user with an encrypted TOTP secret and ten hashed backup codes', async () => {
    const [guarded] = await rows(`select totp_secret from users where id = '${DEMO.users.guarded}'`);
    const context = { tenantId: DEMO.tenants.demo, rowId: DEMO.users.guarded, field: 'totp_secret' } as const;
    expect(secrets.decrypt(String(guarded?.['totp_secret']), context)).toBe(
      'KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU',
    );
    const stored = await column(`select code_hash from backup_codes where user_id = '${DEMO.users.guarded}'`);
    expect(stored.sort()).toEqual(
      DEMO_BACKUP_CODES.map((code) => secrets.lookupHash(code, 'backup_code')).sort(),
    );
    expect(new Set(DEMO_BACKUP_CODES).size).toBe(10);
    for (const code of DEMO_BACKUP_CODES) expect(code).toMatch(/^[A-Z0-9]{4}-[A-Z0-9]{4}$/);
  });

  test.each([
    ['IEX', 'Island Express', 'a', '1.75'],
    ['HRB', 'Harbour Couriers', 'b', '0.00'],
  ] as const)('courier %s has its API key, air freight rate and colour', async (code, name, letter, rate) => {
    const [courier] = await rows(`select * from couriers where id = '${DEMO.couriers[code]}'`);
    expect(courier).toMatchObject({ code, name, air_freight_rate: rate, is_active: true });
    expect(courier?.['house_color']).toMatch(/^#[0-9A-F]{6}$/);
    const key = letter.repeat(64);
    const context = { tenantId: DEMO.tenants.demo, rowId: DEMO.couriers[code], field: 'api_key' } as const;
    expect(secrets.decrypt(String(courier?.['api_key_cipher']), context)).toBe(key);
    expect(courier?.['api_key_hash']).toBe(secrets.lookupHash(key, 'api_key'));
  });

  test('has the published default rate tiers and those of IEX', async () => {
    const tiers = await rows(
      `select c.code, start_weight_lb::float8 as "from", end_weight_lb::float8 as "to", fee_usd as fee
       from rate_tiers t left join couriers c on c.tenant_id = t.tenant_id and c.id = t.courier_id
       where t.tenant_id = '${DEMO.tenants.demo}' order by c.code nulls first, 2`,
    );
    expect(tiers).toEqual([
      { code: null, from: 0, to: 5, fee: '8.00' },
      { code: null, from: 5, to: 15, fee: '15.00' },
      { code: null, from: 15, to: 50, fee: '40.00' },
      { code: 'IEX', from: 0, to: 1, fee: '4.50' },
      { code: 'IEX', from: 1, to: 10, fee: '12.00' },
      { code: 'IEX', from: 10, to: 100, fee: '35.00' },
    ]);
  });

  test.each([
    ['IEX', 200, 'IEX-1001', 'IEX-1200'],
    ['HRB', 100, 'HRB-2001', 'HRB-2100'],
  ] as const)(
    '%s has %i customers, %s to %s, and only the last is inactive',
    async (code, count, first, last) => {
      const customers = await rows(
        `select user_code, first_name || ' ' || last_name as name, is_active from customers
       where courier_id = '${DEMO.couriers[code]}' order by user_code`,
      );
      expect(customers).toHaveLength(count);
      expect(customers[0]?.['user_code']).toBe(first);
      expect(customers.filter(({ is_active: isActive }) => !isActive)).toMatchObject([{ user_code: last }]);
      expect(new Set(customers.map(({ name }) => name)).size).toBe(count);
    },
  );

  test('has Miami Gateway as its primary warehouse', async () => {
    expect(
      await rows(`select id, name from warehouses where is_primary and tenant_id = '${DEMO.tenants.demo}'`),
    ).toEqual([{ id: DEMO.warehouses.primary, name: 'Miami Gateway' }]);
  });

  test('has 500 packages from the last 60 days, 25 of them without a known customer', async () => {
    const [figures] = await rows(
      `select count(*)::int as total, count(*) filter (where user_code is null and courier_id is not null)::int as of_courier,
         count(*) filter (where courier_id is null)::int as of_nobody, count(distinct received_at::date)::int as days,
         count(*) filter (where received_at > $1 or received_at < $1 - interval '60 days')::int as outside,
         count(*) filter (where scale(trim_scale(weight_lb)) = 3)::int as of_three_decimals
       from packages where tenant_id = '${DEMO.tenants.demo}'`,
      client,
      [NOW],
    );
    expect(figures).toMatchObject({ total: 500, of_courier: 12, of_nobody: 13, outside: 0, days: 59 });
    expect(figures?.['of_three_decimals']).toBeGreaterThan(50);
  });

  test('every package has a valid house number, a tracking key, a known active customer and its events', async () => {
    const packages = await rows('select house_number, tracking_number, tracking_key from packages');
    expect(packages.filter(({ house_number: number }) => !isHouseNumber(String(number)))).toEqual([]);
    expect(packages.map(({ tracking_number: number }) => trackingKey(String(number)))).toEqual(
      packages.map(({ tracking_key: key }) => key),
    );
    expect(packages.filter(({ tracking_number: number, tracking_key: key }) => number !== key)).not.toEqual(
      [],
    );
    const unmatched = await rows(
      `select p.id from packages p where p.user_code is not null and not exists (select from customers c
         where (c.tenant_id, c.courier_id, c.user_code) = (p.tenant_id, p.courier_id, p.user_code) and c.is_active
           and (c.first_name, c.last_name) = (p.first_name, p.last_name))`,
    );
    expect(unmatched).toEqual([]);
    const histories = await rows(
      `select p.status, e.steps, count(*)::int as packages from packages p join lateral
         (select string_agg(status, ' ' order by occurred_at) as steps from package_events where package_id = p.id) e on true
       where p.tenant_id = '${DEMO.tenants.demo}' group by 1, 2 order by 1`,
    );
    expect(histories).toEqual([
      { status: 'received', steps: 'received', packages: 443 },
      { status: 'shipped', steps: 'received shipped', packages: 57 },
    ]);
  });

  test('every rate tier applies to some package', async () => {
    const unused = await rows(
      `select t.id from rate_tiers t where t.tenant_id = '${DEMO.tenants.demo}' and not exists (select from packages p
         where p.courier_id = coalesce(t.courier_id, '${DEMO.couriers.HRB}')
           and p.weight_lb between t.start_weight_lb and t.end_weight_lb)`,
    );
    expect(unused).toEqual([]);
  });

  test('has a draft and a shipped manifest, each with packages of both couriers', async () => {
    const manifests = await rows(
      `select m.id, m.status, m.manifest_number, m.awb_number, m.airline_prefix, a.name as airline,
         array_agg(distinct c.code order by c.code) as couriers, array_agg(distinct p.status) as statuses,
         max(p.received_at) < m.created_at as is_later
       from manifests m join packages p on p.tenant_id = m.tenant_id and p.manifest_id = m.id
         join couriers c on c.id = p.courier_id left join airlines a on a.tenant_id = m.tenant_id and a.prefix = m.airline_prefix
       group by m.tenant_id, m.id, a.name order by m.id`,
    );
    const both = { couriers: ['HRB', 'IEX'], is_later: true, airline: expect.any(String) };
    expect(manifests).toMatchObject([
      { ...both, id: DEMO.manifests.draft, status: 'draft', statuses: ['received'] },
      { ...both, id: DEMO.manifests.shipped, status: 'shipped', statuses: ['shipped'] },
    ]);
    expect(manifests.map(({ manifest_number: number }) => number)).toEqual([
      'MAN-20261120-K7Q2',
      'MAN-20261115-V4TX',
    ]);
    for (const { awb_number: number, airline_prefix: prefix } of manifests) {
      const [, airline, serial, check] = /^(\d{3})-(\d{7})(\d)$/.exec(String(number)) ?? [];
      expect([airline, Number(check)]).toEqual([prefix, Number(serial) % 7]);
    }
  });

  test('has three bills of IEX whose subtotals match the rate tiers', async () => {
    const bills = await rows(
      `select b.id, b.status, b.total_packages = count(p.id) as counts, b.subtotal = sum(t.fee_usd) as ties,
         b.paid_amount < b.total_amount as owes
       from bills b join packages p on p.courier_id = b.courier_id
         and (p.received_at at time zone 'UTC')::date between b.start_date and b.end_date
       left join lateral (select fee_usd from rate_tiers r where r.courier_id = b.courier_id
         and p.weight_lb between r.start_weight_lb and r.end_weight_lb order by r.start_weight_lb limit 1) t on true
       where b.courier_id = '${DEMO.couriers.IEX}' group by b.tenant_id, b.id order by b.id`,
    );
    expect(bills).toEqual([
      { id: DEMO.bills.paid, status: 'paid', counts: true, ties: true, owes: false },
      { id: DEMO.bills.published, status: 'published', counts: true, ties: true, owes: true },
      { id: DEMO.bills.draft, status: 'draft', counts: true, ties: true, owes: true },
    ]);
  });

  test('has bill lines and payments that add up, and a bill counter at the last number', async () => {
    const bills = await rows(
      `select b.status, b.invoice_number, b.total_packages = count(l.id) as counts, b.subtotal = sum(l.amount_usd) as ties,
         b.paid_amount = coalesce((select sum(p.amount_usd) from bill_payments p where p.bill_id = b.id), 0) as paid,
         bool_and(l.package_id is not null and l.tier is not null) as named
       from bills b join bill_lines l on l.bill_id = b.id group by b.tenant_id, b.id order by b.id`,
    );
    const good = { counts: true, ties: true, paid: true, named: true };
    expect(bills).toEqual([
      { status: 'paid', invoice_number: 'INV-000001', ...good },
      { status: 'published', invoice_number: 'INV-000002', ...good },
      { status: 'draft', invoice_number: expect.stringMatching(/^DRAFT-/), ...good },
    ]);
    expect(await rows('select last_number from bill_counters')).toEqual([{ last_number: 2 }]);
  });

  test('has pre-alerts in all three statuses that match the received packages', async () => {
    const counts = await rows(
      `select c.code, p.status, count(*)::int as total, bool_and((p.status = 'pending') = (k.id is null)) as agree
       from prealerts p join couriers c on c.tenant_id = p.tenant_id and c.id = p.courier_id
         left join packages k on k.tenant_id = p.tenant_id and k.tracking_key = p.tracking_key
       where p.tenant_id = '${DEMO.tenants.demo}' group by 1, 2 order by 1, 2`,
    );
    expect(counts).toEqual([
      { code: 'HRB', status: 'flagged', total: 3, agree: true },
      { code: 'HRB', status: 'pending', total: 8, agree: true },
      { code: 'HRB', status: 'received', total: 9, agree: true },
      { code: 'IEX', status: 'flagged', total: 3, agree: true },
      { code: 'IEX', status: 'pending', total: 14, agree: true },
      { code: 'IEX', status: 'received', total: 19, agree: true },
    ]);
    const linked = await rows(
      `select count(*)::int as linked from packages k join prealerts p on p.tenant_id = k.tenant_id and p.id = k.prealert_id
         and (p.courier_id, p.user_code, p.tracking_key) = (k.courier_id, k.user_code, k.tracking_key)
       where p.status = 'received' and p.created_at < k.received_at and k.tenant_id = '${DEMO.tenants.demo}'`,
    );
    expect(linked).toEqual([{ linked: 28 }]);
  });
});

describe('the ids in DEMO', () => {
  beforeAll(() => enter(DEMO.tenants.demo));

  test('every id is a version 7 UUID and is used once', () => {
    const ids = strings(DEMO).filter((text) => /^[0-9a-f]{8}-/.test(text));
    expect(ids.filter((id) => !UUID_V7.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('packages have the state that their name states', async () => {
    const { available, aboardDraft, shipped, customerUnknown, ownerUnknown } = DEMO.packages;
    const free = { status: 'received', manifest_id: null };
    const owned = (code: 'IEX' | 'HRB') => ({ courier_id: DEMO.couriers[code], is_known: true });
    for (const code of ['IEX', 'HRB'] as const) {
      await expectPackages(available[code], { ...owned(code), ...free });
      await expectPackages(aboardDraft[code], { ...owned(code), ...free, manifest_id: DEMO.manifests.draft });
      await expectPackages(shipped[code], {
        ...owned(code),
        ...{ status: 'shipped', manifest_id: DEMO.manifests.shipped },
      });
      await expectPackages(customerUnknown[code], { ...owned(code), ...free, is_known: false });
    }
    await expectPackages(ownerUnknown, { courier_id: null, is_known: false, ...free });
  });

  test('pre-alerts have the status that their name states', async () => {
    for (const status of ['pending', 'received', 'flagged'] as const) {
      for (const code of ['IEX', 'HRB'] as const) {
        const ids = DEMO.prealerts[status][code];
        const found = await rows('select status, courier_id from prealerts where id = any($1)', client, [
          ids,
        ]);
        expect(found).toEqual(ids.map(() => ({ status, courier_id: DEMO.couriers[code] })));
      }
    }
  });
});

test('tenant two has an admin, courier TWO with its user and API key, customers, packages and pre-alerts', async () => {
  await enter(DEMO.tenants.two);
  const rowsOf = (table: string) =>
    `select * from ${table} where tenant_id = '${DEMO.tenants.two}' order by id`;
  expect(await rows(rowsOf('users'))).toMatchObject([
    { id: DEMO.usersOfTwo.admin, username: 'admin', role: 'admin' },
    { id: DEMO.usersOfTwo.two, username: 'two', role: 'courier', courier_id: DEMO.couriers.TWO },
  ]);
  const hash = secrets.lookupHash('c'.repeat(64), 'api_key');
  expect(await rows(rowsOf('couriers'))).toMatchObject([
    { id: DEMO.couriers.TWO, code: 'TWO', api_key_hash: hash },
  ]);
  expect(
    (await rows(rowsOf('customers'))).map(({ user_code: code, is_active: isActive }) => [code, isActive]),
  ).toEqual([
    ...['TWO-3001', 'TWO-3002', 'TWO-3003', 'TWO-3004'].map((code) => [code, true]),
    ['TWO-3005', false],
  ]);
  expect(await rows(rowsOf('packages'))).toHaveLength(8);
  expect((await rows(rowsOf('prealerts'))).map(({ id }) => id)).toEqual(DEMO.prealerts.two);
  expect(await rows(rowsOf('rate_tiers'))).toHaveLength(3);
  expect(await rows(rowsOf('warehouses'))).toMatchObject([{ id: DEMO.warehouses.two, is_primary: true }]);
});

async function openDatabase() {
  const database = await freshDatabase();
  closings.push(() => database.drop());
  return database;
}

async function connect(url: string): Promise<pg.Client> {
  const connection = new pg.Client({ connectionString: url });
  await connection.connect();
  closings.push(() => connection.end());
  return connection;
}

/** Sets the session's tenant, because row-level security applies to the owner too. */
async function enter(tenantId: string, connection = client): Promise<void> {
  const scope = "select set_config('app.tenant_id', $1, false), set_config('app.courier_id', 'all', false)";
  await connection.query(scope, [tenantId]);
}

async function rows(
  sql: string,
  connection = client,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  return (await connection.query<Record<string, unknown>>(sql, values)).rows;
}

async function column(sql: string): Promise<string[]> {
  return (await rows(sql)).flatMap((row) => Object.values(row).map(String));
}

/** Returns all rows of both tenants without the volatile columns. */
async function everything(connection: pg.Client): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const tenantId of Object.values(DEMO.tenants)) {
    await enter(tenantId, connection);
    for (const table of TABLES) {
      const sql = `select to_jsonb(t) - $1::text[] as row from ${table} t where tenant_id = $2 order by 1`;
      const stored = await rows(sql, connection, [VOLATILE, tenantId]);
      found[`${table} of ${tenantId}`] = stored.map(({ row }) => row);
    }
  }
  await enter('', connection);
  return found;
}

async function expectPackages(ids: string[], expected: Record<string, unknown>): Promise<void> {
  const sql = `select courier_id, user_code is not null as is_known, status, manifest_id from packages where id = any($1)`;
  expect(await rows(sql, client, [ids])).toEqual(ids.map(() => expected));
}

function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(strings) : [];
}
