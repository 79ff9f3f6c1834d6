import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { runBackgroundMigrations } from '../../../src/jobs/background-migrations/run.js';
import { readBackgroundMigrations } from '../../../src/platform/db/migrations/background-rows.js';
import { MIGRATIONS } from '../../../src/platform/db/migrations/migration-files.js';
import { startService, type Service } from '../../support/service/service.js';

// Rows of earlier releases get the keys of decision 0072.

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

const rows = async (statement: string, values: unknown[] = []) =>
  (await service.owner.query(statement, values)).rows;

const USPS = '4203316692419901234567000000000017';
const DPD = '008182709980000020033350276C';

async function addPackage(number: string, key = number): Promise<string> {
  const id = randomUUID();
  await rows(
    `insert into packages (tenant_id, id, tracking_number, tracking_key, house_number, weight_lb, warehouse_id)
     values ($1, $2, $3, $4, $5, 1, $6)`,
    [DEMO.tenants.demo, id, number, key, id.slice(0, 8), DEMO.warehouses.primary],
  );
  return id;
}

async function addPrealert(number: string, key = number): Promise<string> {
  const id = randomUUID();
  await rows(
    `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, status)
     values ($1, $2, $3, 'IEX-1001', $4, $5, 'pending')`,
    [DEMO.tenants.demo, id, DEMO.couriers.IEX, number, key],
  );
  return id;
}

async function addScan(scan: string): Promise<string> {
  const id = randomUUID();
  await rows(
    `insert into scans (tenant_id, id, station, kind, scanned_at, user_id, scan, parcel_key, details, content_hash, outcome,
       reason)
     values ($1, $2, 'Dock', 'locate', now(), $3, $4, $4, '{"location": "A"}', 'x', 'conflict', 'not_received')`,
    [DEMO.tenants.demo, id, DEMO.users.warehouse, scan],
  );
  await rows('insert into parcel_positions (tenant_id, parcel_key, scan, location) values ($1, $2, $2, $3)', [
    DEMO.tenants.demo,
    scan,
    'A',
  ]);
  return id;
}

const keyOf = async (table: string, id: string) =>
  (await rows(`select tracking_key from ${table} where id = $1`, [id]))[0]?.tracking_key;

/** Runs the migrations as a worker does after an upgrade. Returns the findings of each. */
async function migrateKeys(): Promise<Record<string, number>> {
  await rows(
    `update installation.background_migrations set status = 'running', tenant_id = null, last_key = null, findings = 0,
       batch_rows = 3
     where name like '20261216%'`,
  );
  const stopping = new AbortController().signal;
  await runBackgroundMigrations({ db: service.db, stopping, log: pino({ level: 'silent' }) }, MIGRATIONS);
  const done = (await readBackgroundMigrations(service.owner)).filter(({ name }) =>
    name.startsWith('20261216'),
  );
  expect(done.map(({ status, lastError }) => [status, lastError])).toEqual(
    done.map(() => ['finished', null]),
  );
  return Object.fromEntries(done.map(({ name, findings }) => [name.slice(15), findings]));
}

test('packages, pre-alerts, flags and waiting scans get the new keys, and packages stored twice are reported, not merged', async () => {
  const packages = {
    asterisks: await addPackage('*LCL-1*'),
    lower: await addPackage('lcl-2'),
    usps: await addPackage(USPS, '9901234567000000000017'),
    dpd: await addPackage(DPD),
    twoSymbols: await addPackage('TWO1\r00961'),
    plain: await addPackage('LCL-3'),
    first: await addPackage('*LCL-4*'),
    second: await addPackage('LCL-4'),
  };
  const prealerts = {
    quotes: await addPrealert('"LCL-6"'),
    usps: await addPrealert(USPS, '9901234567000000000017'),
  };
  await rows('insert into prealert_flags (tenant_id, courier_id, tracking_key) values ($1, $2, $3)', [
    DEMO.tenants.demo,
    DEMO.couriers.IEX,
    'lcl-7',
  ]);
  const waiting = await addScan('*LCL-8*');
  const ofPackage = await addScan('*LCL-1*');

  const findings = await migrateKeys();

  expect(await Promise.all(Object.values(packages).map((id) => keyOf('packages', id)))).toEqual([
    'LCL-1',
    'LCL-2',
    '92419901234567000000000017',
    '09980000020033',
    'TWO1\r00961',
    'LCL-3',
    '*LCL-4*',
    'LCL-4',
  ]);
  expect(await Promise.all(Object.values(prealerts).map((id) => keyOf('prealerts', id)))).toEqual([
    'LCL-6',
    '92419901234567000000000017',
  ]);
  expect(
    await rows('select tracking_key from prealert_flags where courier_id = $1 order by 1', [
      DEMO.couriers.IEX,
    ]),
  ).toEqual(expect.arrayContaining([{ tracking_key: 'LCL-7' }, { tracking_key: 'lcl-7' }]));
  const scans = await rows('select id, parcel_key from scans where id = any($1)', [[waiting, ofPackage]]);
  expect(Object.fromEntries(scans.map(({ id, parcel_key }) => [id, parcel_key]))).toEqual({
    [waiting]: 'LCL-8',
    [ofPackage]: 'LCL-1',
  });
  expect(
    (
      await rows("select parcel_key from parcel_positions where scan in ('*LCL-8*', '*LCL-1*') order by 1")
    ).map(({ parcel_key }) => parcel_key),
  ).toEqual(['LCL-1', 'LCL-8']);
  expect(findings).toMatchObject({ package_keys: 1, prealert_keys: 0 });
  const audited = await rows(
    "select entity_id, after from audit_entries where action = 'package.double_found' and actor_kind = 'system'",
  );
  expect(audited).toEqual([{ entity_id: packages.first, after: { other_package_id: packages.second } }]);
  // The reported package keeps its key, and the clean number finds the other one.
  const { body } = await service.call('receivePackage', {
    as: 'warehouse',
    body: { tracking_number: ']C1LCL-4\r', weight: 1 },
  });
  expect(body['data']).toMatchObject({ duplicate: true, package_id: packages.second });
});

test('of two packages that would get one key, the older one gets it, and a second run changes nothing', async () => {
  const older = await addPackage('*LCL-9*');
  const newer = await addPackage('lcl-9');
  const [first, second] = [older, newer].sort();
  expect(await migrateKeys()).toMatchObject({ package_keys: 2 });
  expect(await keyOf('packages', first ?? '')).toBe('LCL-9');
  expect(await keyOf('packages', second ?? '')).not.toBe('LCL-9');
});
