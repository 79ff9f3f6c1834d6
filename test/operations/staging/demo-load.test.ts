import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { isHouseNumber } from '../../../src/modules/packages/intake/house-number.js';
import { trackingKey } from '../../../src/modules/tracking-numbers/tracking-key.js';
import { assertEventData } from '../../support/receivers/webhook-payloads.js';
import { freshDatabase, type TestDatabase } from '../../support/service/database.js';
import { logInAs, readMainPages, type Account } from '../../support/staging/main-pages.js';
import { endProcesses, run } from '../../support/service/processes.js';
import { startService, type Service } from '../../support/service/service.js';

const PASSWORD = 'a-password-of-the-load';
const HOST = 'doral.localhost';
const START = '2026-11-02';
const END = '2026-11-08';
const SMALL = [
  '--tenants',
  '1',
  '--days',
  '7',
  '--parcels-per-day',
  '40',
  '--end',
  END,
  '--password',
  PASSWORD,
];
const LIMIT_MS = 120_000;

let database: TestDatabase;
let twin: TestDatabase;
let first: Ended;
let service: Service;
let owner: pg.Pool;

type Ended = { code: number | null; output: string };

beforeAll(async () => {
  [database, twin] = [await freshDatabase(), await freshDatabase()];
  [first] = await Promise.all([load(database), load(twin)]);
  service = await startService({ database });
  owner = service.owner;
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await service.stop();
  await twin.drop();
}, LIMIT_MS);

async function load({ ownerUrl }: TestDatabase, args = SMALL, env = {}): Promise<Ended> {
  const cheap = { PASSWORD_HASH_COST: '4' };
  const program = run('scripts/develop/demo-load.js', { DATABASE_URL: ownerUrl, ...cheap, ...env }, args);
  const { code } = await program.ended;
  return { code, output: program.output() };
}

async function rows(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  return (await owner.query<Record<string, unknown>>(text, values)).rows;
}

/** Returns rows whose columns are all text. */
async function names(text: string): Promise<Record<string, string>[]> {
  return (await owner.query<Record<string, string>>(text)).rows;
}

describe('npm run demo:load', () => {
  test('loads a tenant and shows its progress and how to log in', () => {
    expect(first).toMatchObject({ code: 0 });
    expect(first.output).toMatch(/doral: \d+ packages, \d+ pre-alerts, \d manifests/);
    expect(first.output).toContain('Added doral.');
  });

  test('a second load adds nothing and says what to do', async () => {
    const before = await fingerprint(database);
    const second = await load(database);
    expect(second).toMatchObject({ code: 0 });
    expect(second.output).toContain('doral: exists already, nothing was added');
    expect(second.output).toContain('use an empty database');
    expect(await fingerprint(database)).toEqual(before);
  });

  test('equal options give equal rows', async () => {
    expect(await fingerprint(twin)).toEqual(await fingerprint(database));
  });

  test.each([
    [['--days', '0'], '--days must be from 1 to'],
    [['--tenants', 'x'], '--tenants must be from 1 to'],
    [['--end', '2999-01-01'], '--end must not be in the future'],
    [['--end', 'today'], '--end must be a date'],
    [['--host-suffix', 'UPPER'], '--host-suffix must be a domain'],
    [['--more'], '--more'],
  ])('%j is refused', async (args, message) => {
    const refused = await load(database, args);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.output).toContain(message);
  });

  test('production is refused', async () => {
    const production = {
      ...{
        APP_ENV: 'production',
        TOKEN_KEYS: `k1:${'test-key-0123456789'.repeat(3)}`,
        ENCRYPTION_KEYS: `1:${'0123456789abcdef'.repeat(4)}`,
      },
      ...{ LOOKUP_KEY: 'fedcba9876543210'.repeat(4), TRUST_PROXY: '127.0.0.1', PASSWORD_HASH_COST: '12' },
    };
    const refused = await load(database, SMALL, production);
    expect(refused).toEqual({
      code: 1,
      output: 'APP_ENV is production. Made-up data do not belong there.\n',
    });
  });
});

/** Hashes of all rows, without what is encrypted, hashed or assigned by the database. */
async function fingerprint({ ownerUrl }: TestDatabase): Promise<unknown> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  const found: Record<string, unknown> = {};
  for (const table of [...TRAFFIC.map(([name]) => name), 'customers', 'couriers', 'users', 'bill_lines']) {
    const { rows: hashes } = await client.query(
      `select count(*)::int as count, md5(string_agg(row::text, ' ' order by row)) as hash
       from (select to_jsonb(t) - $1::text[] as row from ${table} t) as rows`,
      // The service's own statement makes the ids of bill lines.
      [table === 'bill_lines' ? [...VOLATILE, 'id'] : VOLATILE],
    );
    found[table] = hashes[0];
  }
  await client.end();
  return found;
}

const VOLATILE = [
  ...['password_hash', 'api_key_cipher', 'api_token_cipher', 'webhook_secret_cipher', 'place'],
];

/** The tables of the traffic, with the column of a row's own time. */
const TRAFFIC: [table: string, time: string][] = [
  ['prealerts', 'created_at'],
  ['packages', 'received_at'],
  ['package_events', 'occurred_at'],
  ['manifests', 'created_at'],
  ['manifest_mails', 'created_at'],
  ['events', 'occurred_at'],
  ['webhook_deliveries', 'created_at'],
  ['webhook_attempts', 'started_at'],
  ['bills', 'created_at'],
  ['bill_payments', 'recorded_at'],
  ['customer_sync_runs', 'created_at'],
  ['dispatches', 'requested_at'],
  ['audit_entries', 'at'],
];

describe('the loaded rows', () => {
  test.each(TRAFFIC.filter(([table]) => table !== 'bill_payments'))(
    '%s: there are some, and all are of the period',
    async (table, time) => {
      const [found] = await rows(
        `select count(*)::int as total, count(*) filter (where ${time}::date < $1 or ${time}::date > $2)::int as outside
         from ${table}`,
        [START, END],
      );
      expect(found).toEqual({ total: expect.any(Number), outside: 0 });
      expect(found?.['total']).toBeGreaterThan(0);
    },
  );

  test('no time is after the end of the period, except the ends of sessions', async () => {
    const columns = await names(
      `select format('%I', table_name) as table, format('%I', column_name) as column from information_schema.columns
       where table_schema = 'public' and data_type like 'timestamp%' and table_name not like '\\_%'
         and (table_name, column_name) <> ('sessions', 'expires_at') and table_name <> 'audit_unsealed'`,
    );
    expect(columns.length).toBeGreaterThan(40);
    const late: unknown[] = [];
    for (const { table, column } of columns)
      late.push(
        ...(await rows(
          `select '${table}.${column}' as place from ${table} where ${column} >= $1::date + 1 limit 1`,
          [END],
        )),
      );
    // startService has opened sessions for the tests.
    expect(late.filter((each) => !JSON.stringify(each).includes('sessions.'))).toEqual([]);
  });

  test('every row has its tenant', async () => {
    const tables = await names(
      `select format('%I', table_name) as name from information_schema.columns
       where table_schema = 'public' and column_name = 'tenant_id'`,
    );
    expect(tables.length).toBeGreaterThan(30);
    for (const { name } of tables)
      expect([
        name,
        await rows(`select from ${name} t where not exists (select from tenants o where o.id = t.tenant_id)`),
      ]).toEqual([name, []]);
  });

  test('counters are the counts', async () => {
    expect(
      await rows(
        `select * from (select courier_id, status, sum(total)::int as total from prealert_tallies group by 1, 2) t
         full join (select courier_id, status, count(*)::int as total from prealerts group by 1, 2) p using (courier_id, status)
         where t.total is distinct from p.total`,
      ),
    ).toEqual([]);
    expect(
      await rows(
        `select * from (select courier_id, sum(total)::int as total, sum(weight_lb) as weight from package_tallies group by 1) t
         full join (select package_owner(courier_id) as courier_id, count(*)::int as total, sum(weight_lb) as weight
           from packages group by 1) p using (courier_id)
         where (t.total, t.weight) is distinct from (p.total, p.weight)`,
      ),
    ).toEqual([]);
    expect(
      await rows(
        `select * from (select courier_id, sum(total)::int as total from customer_tallies where branch = '' group by 1) t
         full join (select courier_id, count(*)::int as total from customers group by 1) c using (courier_id)
         where t.total is distinct from c.total`,
      ),
    ).toEqual([]);
    expect(
      await rows(
        `select * from (select courier_id, max(sequence) as last, count(*) as total from events group by 1) e
         full join event_counters k using (courier_id) where (e.last, e.total) is distinct from (k.last_sequence, k.last_sequence)`,
      ),
    ).toEqual([]);
  });

  test('packages have valid numbers, and their status is the last event', async () => {
    const packages = await rows('select house_number, tracking_number, tracking_key from packages');
    expect(packages.filter(({ house_number: number }) => !isHouseNumber(String(number)))).toEqual([]);
    expect(
      packages.filter((row) => trackingKey(String(row['tracking_number'])) !== row['tracking_key']),
    ).toEqual([]);
    expect(
      await rows(
        `select p.id from packages p where p.status is distinct from (select e.status from package_events e
           where e.tenant_id = p.tenant_id and e.package_id = p.id order by e.place desc limit 1)`,
      ),
    ).toEqual([]);
    expect(
      await rows(
        `select e.id from package_events e where e.previous_status is distinct from (select before.status from package_events before
           where before.package_id = e.package_id and before.place < e.place order by before.place desc limit 1)`,
      ),
    ).toEqual([]);
  });

  test('pre-alerts agree with packages, and some parcels were not announced', async () => {
    const [figures] = await rows(
      `select count(*) filter (where a.status = 'pending' and p.id is not null)::int as wrongly_pending,
         count(*) filter (where a.status = 'received' and p.prealert_id is distinct from a.id)::int as wrongly_received,
         count(*) filter (where a.status = 'flagged' and p.courier_id is not null)::int as wrongly_flagged,
         count(*) filter (where a.status = 'received' and a.created_at > p.received_at)::int as too_late
       from prealerts a left join packages p on p.tenant_id = a.tenant_id and p.tracking_key = a.tracking_key`,
    );
    expect(figures).toEqual({ wrongly_pending: 0, wrongly_received: 0, wrongly_flagged: 0, too_late: 0 });
    const [unannounced] = await rows(
      'select count(*)::int as total from packages where prealert_id is null and user_code is not null',
    );
    expect(unannounced?.['total']).toBeGreaterThan(20);
  });

  test('couriers have very different sizes, and Sunday is quiet', async () => {
    const sizes = (
      await rows(
        'select count(*)::int as total from packages where courier_id is not null group by courier_id order by 1',
      )
    ).map(({ total }) => Number(total));
    expect(sizes.at(-1)).toBeGreaterThan(4 * (sizes[0] ?? 0));
    const days = await rows(
      `select count(*) filter (where extract(dow from received_at) = 0)::int as sunday,
         count(*) filter (where extract(dow from received_at) = 1)::int as monday from packages`,
    );
    expect(Number(days[0]?.['monday'])).toBeGreaterThan(4 * Number(days[0]?.['sunday']));
  });

  test('bills are the sum of their lines and payments, and numbers have no gap', async () => {
    expect(
      await rows(
        `select b.id from bills b where b.subtotal <> (select sum(l.amount_usd) from bill_lines l where l.bill_id = b.id)
           or b.total_packages <> (select count(l.package_id) from bill_lines l where l.bill_id = b.id)
           or b.tax_amount <> round(b.subtotal * b.tax_rate / 100, 2)
           or b.paid_amount <> coalesce((select sum(p.amount_usd) from bill_payments p where p.bill_id = b.id and p.voided_at is null), 0)`,
      ),
    ).toEqual([]);
    const [numbers] = await rows(
      `select count(sequence_number)::int as published, max(sequence_number) as last,
         count(*) filter (where status = 'draft')::int as drafts, (select last_number from bill_counters) as counter from bills`,
    );
    expect(numbers?.['published']).toBeGreaterThan(2);
    expect(numbers).toMatchObject({ last: numbers?.['published'], counter: numbers?.['published'] });
    expect(numbers?.['drafts']).toBeGreaterThan(2);
  });

  test('webhooks go to no address', async () => {
    const urls = await rows(
      `select url from couriers, unnest(array[api_url_get_customers, api_url_add_package, api_url_update_package]) url
       where url is not null and url !~ '^https://[a-z.]+\\.invalid/'`,
    );
    expect(urls).toEqual([]);
    for (const { type, data } of await rows('select type, data from events limit 200'))
      assertEventData(String(type), data);
  });
});

describe('the service on the loaded database', () => {
  const account = (username: string): Account => ({ host: HOST, username, password: PASSWORD });

  test('verifies the audit chain', async () => {
    const token = await logInAs(service, account('admin'));
    const reply = await service.call('verifyAuditLog', { host: HOST, token, body: { action: 'verify' } });
    expect(reply.body['data']).toMatchObject({ intact: true, next_after: null, unsealed: 0 });
    expect(reply.body['data'].verified).toBeGreaterThan(300);
  });

  test.each([
    ['admin', []],
    ['manager', expect.not.arrayContaining([expect.stringContaining('listPackages')])],
    ['warehouse', expect.not.arrayContaining([expect.stringContaining('listPackages')])],
    ['bmp', expect.not.arrayContaining([expect.stringContaining('listPackages')])],
  ])('serves the main pages to %s, each as the contract says', async (username, refused) => {
    const [shown] = await rows(
      `select b.courier_id as "courierId", b.id as "billId", p.id as "packageId", p.manifest_id as "manifestId"
       from bills b join couriers c on c.id = b.courier_id and c.code = 'BMP'
       join packages p on p.courier_id = b.courier_id and p.manifest_id is not null
       where b.status <> 'draft' limit 1`,
    );
    const ids = shown as { courierId: string; billId: string; packageId: string; manifestId: string };
    const found = await readMainPages(service, account(username), ids);
    expect(found).toEqual(refused);
    expect(found.filter((each) => !each.endsWith(' 403'))).toEqual([]);
  });
});
