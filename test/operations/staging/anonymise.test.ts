import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import speakeasy from 'speakeasy';
import { DEVELOPMENT_SECRETS } from '../../../src/config/settings.js';
import { findUndecided } from '../../../tools/anonymise/catalogue.js';
import { COLUMNS } from '../../../tools/anonymise/columns.js';
import { makeReplacements } from '../../../tools/anonymise/values/replacements.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { isHouseNumber } from '../../../src/modules/packages/intake/house-number.js';
import { trackingKey } from '../../../src/modules/tracking-numbers/tracking-key.js';
import { rounds } from '../../support/harness/effort.js';
import { dump, findCanaries, plantCanaries, type Canaries } from '../../support/staging/canaries.js';
import { fillEmptyTables } from '../../support/staging/full-database.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';
import { logInAs, readMainPages, type Account, type Shown } from '../../support/staging/main-pages.js';
import { endProcesses, run } from '../../support/service/processes.js';
import { startService, type Service } from '../../support/service/service.js';

const LIMIT_MS = 180_000;
const PASSWORD = 'a-password-of-staging';
/** The keys of staging. The demo data are encrypted with other ones, which anonymising does not need. */
const KEYS = {
  TOKEN_KEYS: `s1:${'staging-key-0123'.repeat(3)}`,
  ENCRYPTION_KEYS: `7:${'5a6b7c8d9e0f1a2b'.repeat(4)}`,
  LOOKUP_KEY: '7b8c9d0e1f2a3b4c'.repeat(4),
  PASSWORD_HASH_COST: '4',
};

let database: DocumentedDatabase;
let canaries: Canaries;
let before: Snapshot;
let after: Snapshot;
let dumped: string;
let output: string;
let service: Service;

beforeAll(async () => {
  database = await documentedDatabase({ demo: true });
  const small = ['--tenants', '1', '--days', '4', '--parcels-per-day', '15', '--end', '2026-11-08'];
  const loaded = await script('demo-load', small, DEVELOPMENT_SECRETS);
  if (loaded.code !== 0) throw new Error(loaded.output);
  await connected(async (owner) => {
    await fillEmptyTables(owner);
    canaries = await plantCanaries(owner);
    before = await snapshot(owner);
  });
  const name = new URL(database.ownerUrl).pathname.slice(1);
  const twice = ['--copy-of-production', '--database', name];
  const done = await script('anonymise', [...twice, '--password', PASSWORD]);
  if (done.code !== 0) throw new Error(done.output);
  output = done.output;
  await connected(async (owner) => {
    after = await snapshot(owner);
    dumped = await dump(owner);
  });
  service = await startService({ database, env: KEYS });
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await service.stop();
}, LIMIT_MS);

async function script(name: string, args: string[], env: Record<string, string> = {}) {
  const folder = name === 'demo-load' ? 'scripts/develop' : 'src/commands';
  const program = run(`${folder}/${name}.js`, { ...database.urls, ...KEYS, ...env }, args);
  const { code } = await program.ended;
  return { code, output: program.output() };
}

async function connected<Result>(
  work: (owner: pg.Client) => Promise<Result>,
  url = database.ownerUrl,
): Promise<Result> {
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  try {
    return await work(owner);
  } finally {
    await owner.end();
  }
}

type Snapshot = { rows: Record<string, number>; figures: Record<string, unknown>; schema: unknown[] };

/** What stays: numbers of rows, of different values and of joined rows, weights, dates and lengths. */
async function snapshot(owner: pg.Client): Promise<Snapshot> {
  const rows: Record<string, number> = {};
  for (const table of Object.keys(COLUMNS)) {
    const { rows: counts } = await owner.query<{ total: number }>(
      `select count(*)::int as total from ${table}`,
    );
    rows[table] = counts[0]?.total ?? 0;
  }
  const { rows: figures } = await owner.query<Record<string, unknown>>(
    `select
       (select array[count(distinct (tenant_id, house_number)), count(distinct (tenant_id, tracking_key)),
         count(distinct (tenant_id, shipper)), sum(weight_lb), sum(length(tracking_number))] from packages) as packages,
       (select array[min(received_at), max(received_at)] from packages) as received,
       (select array[count(distinct (tenant_id, first_name)), count(distinct (tenant_id, last_name)),
         sum(length(first_name || last_name || user_code))] from customers) as customers,
       (select count(*) from packages p join customers c
         on (c.tenant_id, c.courier_id, c.user_code, c.first_name, c.last_name)
          = (p.tenant_id, p.courier_id, p.user_code, p.first_name, p.last_name)) as owned,
       (select count(*) from packages p join prealerts a on a.tenant_id = p.tenant_id and a.tracking_key = p.tracking_key) as announced,
       (select count(*) from bill_lines l join packages p on p.tenant_id = l.tenant_id and p.house_number = l.house_number
         and p.tracking_number = l.tracking_number) as billed,
       (select count(*) from events e join packages p on p.tenant_id = e.tenant_id
         and p.house_number = e.data ->> 'house_number' and p.tracking_number = e.data ->> 'tracking_number') as reported,
       (select count(*) from audit_entries e join packages p on p.tenant_id = e.tenant_id
         and p.house_number = e.after ->> 'house_number') as audited,
       (select array[count(*), sum(total_amount), sum(paid_amount)] from bills) as bills,
       (select count(*) from manifests m join manifest_mails n on n.tenant_id = m.tenant_id and n.manifest_number = m.manifest_number) as mailed`,
  );
  const { rows: schema } = await owner.query(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
     union all select conrelid::regclass || ' ' || conname, pg_get_constraintdef(oid) from pg_constraint
     union all select tgrelid::regclass || ' ' || tgname, tgenabled::text from pg_trigger
     union all select oid::regclass::text, concat(relrowsecurity, relforcerowsecurity) from pg_class where relkind = 'r'
     order by 1, 2`,
  );
  return { rows, figures: figures[0] ?? {}, schema };
}

describe('the inventory of columns', () => {
  test('decides every column of every table', async () => {
    expect(await connected(findUndecided)).toEqual([]);
  });

  test('does not decide a new column and a new table', async () => {
    const undecided = await connected(async (owner) => {
      await owner.query('begin');
      await owner.query('alter table customers add column birthday date');
      await owner.query('create table notes (text text)');
      return findUndecided(owner);
    });
    expect(undecided).toEqual(['public.customers.birthday', 'public.notes.text']);
  });
});

describe('after npm run anonymise', () => {
  test('no canary is left in the rows and the statistics, and each column could have one', () => {
    expect(findCanaries(dumped, canaries.planted)).toEqual([]);
    expect(canaries.planted.length).toBeGreaterThan(100);
    expect(canaries.empty).toEqual([]);
    const decisionOf = (name: string) =>
      COLUMNS[name.slice(0, name.lastIndexOf('.'))]?.[name.slice(name.lastIndexOf('.') + 1)];
    // Check constraints limit these to words and formats of our own, to the hash and the kind of a logo, and to names of time zones and
    // currencies.
    expect([...new Set(canaries.impossible.map(decisionOf))].sort()).toEqual([
      'code',
      'keep',
      'logo',
      'manifestNumber',
    ]);
    const kept = canaries.impossible.filter((name) => decisionOf(name) === 'keep');
    expect(kept.sort()).toEqual([
      'public.tenant_settings.currency',
      'public.tenant_settings.time_zone',
      'public.tracking_settings.currency',
      'public.tracking_settings.time_zone',
    ]);
  });

  test('a service token has as many addresses as before, and none of them', async () => {
    const [row] = await connected(
      async (owner) =>
        (await owner.query<{ addresses: string[] }>('select addresses from service_tokens')).rows,
    );
    expect(row?.addresses).toHaveLength(2);
    for (const address of ['192.0.2.12', '2001:db8:77']) expect(dumped).not.toContain(address);
  });

  test('a search for canaries finds them in the plain and in the encoded form', () => {
    const planted = [{ column: 'a', canary: 'zyx' }];
    expect(findCanaries('{"text": "Canary ZYX"}', planted)).toEqual(['a']);
    expect(findCanaries('\\x2e7a79782e', planted)).toEqual(['a']);
  });

  test('every table has as many rows as before, except the deployments and processes, which are forgotten', () => {
    const {
      'public.customer_terms': terms,
      'installation.deployments': deployments,
      'installation.processes': processes,
      ...rest
    } = after.rows;
    const {
      'public.customer_terms': _,
      'installation.deployments': __,
      'installation.processes': ___,
      ...expected
    } = before.rows;
    expect(rest).toEqual(expected);
    expect([deployments, processes, (terms ?? 0) > 0]).toEqual([0, 0, true]);
  });

  test('numbers, dates, lengths, different values and joins are the same', () => {
    expect(after.figures).toEqual(before.figures);
    const joined = ['owned', 'announced', 'billed', 'reported', 'audited', 'mailed'];
    for (const name of joined) expect([name, Number(before.figures[name]) > 10]).toEqual([name, true]);
  });

  test('indexes, constraints, triggers and row-level security are as before', () => {
    expect(before.schema.length).toBeGreaterThan(300);
    expect(after.schema).toEqual(before.schema);
  });

  test('house numbers are valid, and barcodes still contain their tracking numbers', async () => {
    const { rows } = await service.owner.query<
      Record<'house_number' | 'tracking_number' | 'tracking_key', string>
    >('select house_number, tracking_number, tracking_key from packages');
    // One row has the canaries.
    const isBroken = (row: (typeof rows)[number]) =>
      !isHouseNumber(row.house_number) || trackingKey(row.tracking_number) !== row.tracking_key;
    expect(rows.filter(isBroken).length).toBeLessThanOrEqual(3);
    expect(rows.filter((row) => row.tracking_number !== row.tracking_key)).not.toEqual([]);
  });

  test('prints how to log in', () => {
    expect(output).toMatch(/Replaced the values of \d+ rows\./);
    expect(output).toMatch(/second factor, shown this once: [A-Z2-7]{32}/);
  });
});

describe('the service on the anonymised database', () => {
  /** The users of the tenant that was `demo`, by their roles. */
  async function accountOf(id: string): Promise<Account> {
    const { rows } = await service.owner.query<{ username: string; host: string }>(
      `select u.username, h.host from users u join tenant_hosts h on h.tenant_id = u.tenant_id where u.id = $1`,
      [id],
    );
    const { username = '', host = '' } = rows[0] ?? {};
    return { host, username, password: PASSWORD };
  }

  const SHOWN: Shown = {
    courierId: DEMO.couriers.IEX,
    manifestId: DEMO.manifests.shipped,
    billId: DEMO.bills.paid,
    packageId: DEMO.packages.shipped.IEX[1] ?? '',
  };

  test.each(['admin', 'manager', 'warehouse', 'iex'] as const)(
    'serves the main pages to %s, each as the contract says',
    async (user) => {
      const refused = await readMainPages(service, await accountOf(DEMO.users[user]), SHOWN);
      expect(refused.filter((each) => !each.endsWith(' 403'))).toEqual([]);
      if (user === 'admin') expect(refused).toEqual([]);
    },
  );

  test('verifies the audit chain with the key of staging', async () => {
    const { rows } = await service.owner.query<{ host: string }>(
      `select h.host from tenant_hosts h join tenants t on t.id = h.tenant_id
       where t.id <> all ($1) and exists (select from audit_links l where l.tenant_id = t.id)`,
      [Object.values(DEMO.tenants)],
    );
    const host = rows[0]?.host ?? '';
    const { rows: admins } = await service.owner.query<{ username: string }>(
      `select u.username from users u join tenant_hosts h on h.tenant_id = u.tenant_id where h.host = $1 and u.role = 'admin'`,
      [host],
    );
    const token = await logInAs(service, { host, username: admins[0]?.username ?? '', password: PASSWORD });
    const reply = await service.call('verifyAuditLog', { host, token, body: { action: 'verify' } });
    expect(reply.body['data']).toMatchObject({ intact: true, next_after: null });
    expect(reply.body['data'].verified).toBeGreaterThan(50);
  });

  test('finds a customer by the new name and by a misspelt one', async () => {
    const { rows } = await service.owner.query<{ name: string; code: string }>(
      `select first_name || ' ' || last_name as name, user_code as code from customers
       where courier_id = $1 and length(last_name) > 6 and first_name ~ '^[A-Za-z]+$' order by user_code limit 1`,
      [DEMO.couriers.HRB],
    );
    const { name = '', code } = rows[0] ?? {};
    const admin = await accountOf(DEMO.users.admin);
    const token = await logInAs(service, admin);
    const misspelt = name.slice(0, -3) + name.slice(-2);
    for (const [q, advanced] of [
      [name, 0],
      [misspelt, 1],
    ] as const) {
      const query = { q, advanced };
      const reply = await service.call('searchCustomers', { host: admin.host, token, query });
      expect(reply.body['data'].map((each: { user_code: string }) => each.user_code)).toContain(code);
    }
  });

  test('accepts the new API key and the new second factor, and nothing of before', async () => {
    const { host, ...admin } = await accountOf(DEMO.users.admin);
    const token = await logInAs(service, { host, ...admin });
    const query = { id: DEMO.couriers.HRB };
    const settings = await service.call('getCourierSettings', { host, token, query });
    const { api_key: key } = settings.body['data'];
    const { rows } = await service.owner.query<{ code: string }>(
      'select user_code as code from customers where courier_id = $1 and is_active order by id limit 1',
      [DEMO.couriers.HRB],
    );
    const body = { UserCode: rows[0]?.code, TrackingNumber: 'NEW-1' };
    expect(await service.call('submitPrealert', { host, key, body })).toMatchObject({ status: 201 });
    const old = { host, key: DEMO.apiKeys.HRB, body };
    expect(await service.call('submitPrealert', old)).toMatchObject({ status: 403 });
    const { username } = await accountOf(DEMO.users.guarded);
    const logIn = (password: string) =>
      service.call('login', { host, body: { action: 'login', username, password } });
    const { preauth_token } = (await logIn(PASSWORD)).body['data'];
    const [secret = ''] = /[A-Z2-7]{32}/.exec(output) ?? [];
    const code = speakeasy.totp({ secret, encoding: 'base32' });
    const verified = { action: 'verify_2fa', preauth_token, code };
    expect(await service.call('login', { host, body: verified })).toMatchObject({ status: 200 });
    expect(await logIn(DEMO.password)).toMatchObject({ status: 401 });
  });
});

describe('npm run anonymise refuses', () => {
  test('the settings of production', async () => {
    const production = { ...KEYS, APP_ENV: 'production', TRUST_PROXY: '127.0.0.1', PASSWORD_HASH_COST: '12' };
    const refused = await script('anonymise', [], production);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.output).toMatch(/^APP_ENV is production\. Run this with the settings/);
  });

  test.each([[[]], [['--copy-of-production']], [['--copy-of-production', '--database', 'another']]])(
    'a database that production has used, with %j',
    async (args) => {
      await service.owner.query(
        "insert into installation.deployments values ('p', 'production', '{}', '1') on conflict do nothing",
      );
      const refused = await script('anonymise', args);
      expect(refused).toMatchObject({ code: 1 });
      expect(refused.output).toMatch(/^The deployment p \(APP_ENV=production\) has used this database/);
    },
  );

  test('a database that others are connected to', async () => {
    await service.owner.query('delete from installation.deployments');
    const refused = await script('anonymise', []);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.output).toMatch(/^\d+ other connections use this database/);
  });
});

describe('replacements', () => {
  const replacements = makeReplacements(Buffer.from('a key of the test'), DEMO.tenants.demo);
  const other = makeReplacements(Buffer.from('a key of the test'), DEMO.tenants.two);

  test.each([
    'Marcia Campbell',
    "O'Garro-Díaz",
    'IEX-1001',
    'MARCIA',
    'Иван Петров',
    '王小明',
    '+1 876 555 0142',
    'a'.repeat(500),
  ])('%s is replaced by a text of the same shape', (text) => {
    const replaced = replacements.text(text);
    const shape = (value: string) =>
      value
        .replace(/\p{Lu}/gu, 'A')
        .replace(/\p{L}/gu, (letter) => (letter === 'A' ? 'A' : 'a'))
        .replace(/\p{N}/gu, '0');
    expect([replaced === text, shape(replaced)]).toEqual([false, shape(text)]);
    expect(replacements.text(text)).toBe(replaced);
    expect(other.text(text)).not.toBe(replaced);
  });

  test('equal words have equal replacements, whatever their case and the text around them', () => {
    const [first, last] = replacements.text('Marcia Campbell').split(' ');
    expect(replacements.text('CAMPBELL, MARCIA')).toBe(`${last}, ${first}`.toUpperCase());
    expect(replacements.email('marcia.campbell@mail.example')).toMatch(
      new RegExp(`^${first}\\.${last}@[a-z]{4}\\.example$`, 'i'),
    );
  });

  test('different values have different replacements', () => {
    // Of 1,000 random replacements with four digits, about 50 would be equal to another.
    const codes = Array.from({ length: rounds(1_000, 10_000) }, (_, n) => String(n).padStart(4, '0'));
    expect(new Set(codes.map((code) => replacements.text(code))).size).toBe(codes.length);
    const serials = codes.map((code) => `12${code}345678`);
    expect(new Set(serials.map((serial) => replacements.text(serial))).size).toBe(serials.length);
  });

  test.each([
    '1Z999AA10123456784',
    '9400111899223197428490',
    '396041661405',
    'TBA123456789012',
    '1234567895',
  ])('the tracking number %s keeps its format and its check digit stays as valid as it was', (number) => {
    const replaced = replacements.text(number);
    expect(replaced).not.toBe(number);
    expect(replaced).toHaveLength(number.length);
    expect(replacements.text(`42033166${number}`)).toHaveLength(number.length + 8);
    if (number.startsWith('9400')) {
      const barcode = replacements.text(`42033166${number}`);
      expect(trackingKey(barcode)).toBe(replaced);
    }
  });

  test('addresses reach nobody', () => {
    expect(replacements.email('a@gmail.com')).toMatch(/@[a-z]{5}\.[a-z]{3}\.example$/);
    expect(replacements.url('https://hooks.example.com:8443/a/b?c=d')).toMatch(
      /^https:\/\/[a-z.]+\.invalid:\d{4}\/[a-z]\/[a-z]\?[a-z]=[a-z]$/,
    );
    expect(replacements.network('198.51.100.7')).toMatch(/^10\.\d+\.\d+\.\d+$/);
    expect(replacements.network('2001:db8:1:2::/64')).toMatch(/^fd00:[0-9a-f:]+::\/64$/);
  });
});
