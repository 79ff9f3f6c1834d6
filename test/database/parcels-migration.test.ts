import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { migrate } from '../../src/platform/db/migrations/migrate.js';
import { projectRoot } from '../../src/config/project-root.js';
import { trackingKey } from '../../src/modules/tracking-numbers/tracking-key.js';

const MIGRATIONS = join(projectRoot, 'prisma', 'migrations');
const OURS = '20261124000000_parcels';
const LABEL = '1195266473930007521100871079919940';
const SHORT = '871079919940';
const ASTRA = '32971514560102447849175802862014';

const tenant = randomUUID();
const couriers = { one: randomUUID(), two: randomUUID() };
const warehouse = randomUUID();
const name = `parcels_migration_${process.pid}`;
let owner: pg.Pool;
let admin: pg.Client;
let folder: string;
let url: string;

/** A database as it was before the migration, with rows of that time in it. */
beforeAll(async () => {
  admin = new pg.Client({ connectionString: process.env['TEST_ADMIN_URL'] });
  await admin.connect();
  await admin.query(`create database "${name}"`);
  const target = new URL(String(process.env['TEST_ADMIN_URL']));
  target.pathname = `/${name}`;
  url = target.href;
  folder = await mkdtemp(join(tmpdir(), 'migrations-'));
  await cp(MIGRATIONS, folder, { recursive: true });
  const later = (await readdir(folder)).filter((each) => /^\d/.test(each) && each >= OURS);
  await Promise.all(later.map((each) => rm(join(folder, each), { recursive: true })));
  await migrate(url, folder);
  owner = new pg.Pool({ connectionString: url, max: 2 });
  owner.on('error', () => {});
  await owner.query("insert into tenants (id, slug, name) values ($1, 'old', 'Old')", [tenant]);
  await owner.query('insert into warehouses (tenant_id, id, name, is_primary) values ($1, $2, $3, true)', [
    tenant,
    warehouse,
    'W',
  ]);
  for (const [code, id] of Object.entries(couriers))
    await owner.query('insert into couriers (tenant_id, id, code, name) values ($1, $2, $3, $3)', [
      tenant,
      id,
      code,
    ]);
}, 120_000);

afterAll(async () => {
  await owner.end();
  await admin.query(`drop database if exists "${name}" with (force)`);
  await admin.end();
  await rm(folder, { recursive: true });
}, 60_000);

type Parcel = {
  number: string;
  key?: string;
  courier?: string | null;
  customer?: string | null;
  day?: number;
};

async function addPackage({ number, key = number, courier = null, customer = null, day = 1 }: Parcel) {
  const id = randomUUID();
  await owner.query(
    `insert into packages (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, house_number, weight_lb,
       warehouse_id, received_at) values ($1, $2, $3, $4, $5, $6, $7, 42.27, $8, $9)`,
    [tenant, id, courier, customer, number, key, id.slice(0, 8), warehouse, `2026-01-0${day}T00:00:00Z`],
  );
  return id;
}

async function addPrealert(courier: string, number: string, status = 'pending') {
  const id = randomUUID();
  await owner.query(
    `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, status)
     values ($1, $2, $3, 'C-1', $4, $4, $5)`,
    [tenant, id, courier, number, status],
  );
  return id;
}

const one = async (statement: string, id: string) => (await owner.query(statement, [id])).rows[0];
const keyOf = async (id: string) =>
  (await one('select tracking_key from packages where id = $1', id)).tracking_key;
const statusOf = async (id: string) => (await one('select status from prealerts where id = $1', id)).status;

test('stored rows get the new keys, missed pre-alerts are settled, and first weights are kept', async () => {
  const missed = await addPackage({ number: LABEL });
  const waiting = await addPrealert(couriers.one, SHORT);
  const astra = await addPackage({ number: ASTRA, courier: couriers.two, customer: 'C-1' });
  const theirs = await addPrealert(couriers.two, '784917580286');
  // the same parcel received by its label twice over, and by its short number: one key each
  const second = '1195271874060007521100871140316925';
  const twins = [
    await addPackage({ number: second, day: 3 }),
    await addPackage({ number: `2${second.slice(1)}`, day: 2 }),
  ];
  const third = '1195583874210007521100871140316936';
  const long = await addPackage({ number: third, day: 1 });
  const short = await addPackage({ number: '871140316936', day: 2 });
  const settled = await addPrealert(couriers.one, '9622001900000000000000776632517510', 'received');
  const other = await addPackage({
    number: '4201002334249200190132607600833457',
    key: '9200190132607600833457',
  });
  const reweighed = await addPackage({ number: 'WEIGHED' });
  for (const [minute, before] of ['42.270', '9.000'].entries())
    await owner.query(
      `insert into audit_entries (tenant_id, id, at, actor_kind, action, entity, entity_id, before, after, request_id)
       values ($1, gen_random_uuid(), $2, 'user', 'package.updated', 'package', $3, $4, '{"weight_lb": "1.000"}', 'r')`,
      [tenant, `2026-02-01T00:0${minute}:00Z`, reweighed, JSON.stringify({ weight_lb: before })],
    );

  expect(await migrate(url, MIGRATIONS)).toContain(OURS);

  expect([await keyOf(missed), await statusOf(waiting)]).toEqual([SHORT, 'flagged']);
  expect([await keyOf(astra), await statusOf(theirs)]).toEqual(['784917580286', 'received']);
  // the one that was received first has the key, the other its own spelling
  expect(await Promise.all(twins.map(keyOf))).toEqual([second, '871140316925']);
  expect([await keyOf(long), await keyOf(short)]).toEqual([third, '871140316936']);
  expect(await statusOf(settled)).toBe('received');
  expect(await keyOf(other)).toBe('9200190132607600833457');
  const { rows } = await owner.query('select tracking_number, tracking_key from prealerts');
  for (const row of rows) expect(row.tracking_key).toBe(trackingKey(row.tracking_number));
  const audited = await owner.query(
    "select action, entity_id from audit_entries where actor_kind = 'system'",
  );
  expect(audited.rows).toEqual(
    expect.arrayContaining([
      { action: 'prealert.flagged', entity_id: waiting },
      { action: 'prealert.received', entity_id: theirs },
    ]),
  );
  const weights = await owner.query('select package_id, received_weight_lb from package_weights');
  expect(weights.rows).toEqual([{ package_id: reweighed, received_weight_lb: '42.270' }]);
  const tallies = await owner.query(
    'select status, sum(total)::int as n from prealert_tallies group by status having sum(total) <> 0 order by status',
  );
  expect(tallies.rows).toEqual([
    { status: 'flagged', n: 1 },
    { status: 'received', n: 2 },
  ]);
}, 120_000);
