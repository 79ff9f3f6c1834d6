import { beforeAll, expect, test } from '@jest/globals';
import type pg from 'pg';
import { pino } from 'pino';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { runBackgroundMigrations } from '../../../../src/jobs/background-migrations/run.js';
import { requeue } from '../../../../src/jobs/requeue.js';
import { MIGRATIONS } from '../../../../src/platform/db/migrations/migration-files.js';
import { makeParcels, newNumber } from '../../../support/builders/parcels.js';
import { deadlocksOf } from '../../../support/failures/deadlocks.js';
import { rounds } from '../../../support/harness/effort.js';
import { deviceScan } from '../../../support/scans/device-scans.js';
import { until } from '../../../support/service/processes.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';

// A batch of scans locks pre-alerts parcel by parcel, and the worker that finishes renames locks many of them (decision 0114).

const { IEX } = DEMO.couriers;
const TENANT = DEMO.tenants.demo;
const ROUNDS = rounds(4, 30);

const { api, service } = withService({ poolSize: 20 });
let parcels: ReturnType<typeof makeParcels>;
beforeAll(() => {
  parcels = makeParcels(service());
});

let serial = 0;

/** A customer whose pre-alerts still have the code before a rename. */
async function makeRenamed(numbers: string[]): Promise<{ code: string; to: string }> {
  const code = `WORKER-${(serial += 1)}`;
  const to = `${code}-NEW`;
  const body = { user_code: to, first_name: 'First', last_name: 'Last' };
  const { data } = await api.as('iex').createCustomer(body).ok();
  await parcels.select(
    `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, status)
     select $1, new_id(), $2, $3, number, number, 'pending' from unnest($4::text[]) with ordinality as n (number, place) order by place`,
    [TENANT, IEX, code, numbers],
  );
  await parcels.select(
    `insert into prealert_renames (tenant_id, courier_id, user_code, customer_id, new_user_code) values ($1, $2, $3, $4, $5)`,
    [TENANT, IEX, code, data.id, to],
  );
  return { code, to };
}

/** The numbers as the ids of their pre-alerts ascend. */
const inOrderOfIds = async (numbers: string[]) =>
  (
    await parcels.select(
      'select tracking_number from prealerts where tracking_number = any($1::text[]) order by id',
      [numbers],
    )
  ).map((row) => String(row['tracking_number']));

const receiveAll = (numbers: string[], station = 'Dock 1') =>
  api
    .as('warehouse')
    .sendScans(
      unchecked({
        station,
        scans: numbers.map((number, n) => deviceScan('receive', number, 60 - n, { weight: 1 })),
      }),
    )
    .answer();

const finish = () => requeue({ db: service().db });

const waiting = async () =>
  (
    await parcels.select(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`,
    )
  )[0]?.['n'];

const ofCodes = async (codes: string[]) =>
  (
    await parcels.select('select count(*)::int as n from prealerts where user_code = any($1::text[])', [
      codes,
    ])
  )[0]?.['n'];

const renamesLeft = () => parcels.select('select user_code from prealert_renames');

async function holding(client: pg.PoolClient, number: string): Promise<void> {
  await client.query('begin');
  await client.query('select from prealerts where tracking_number = $1 for update', [number]);
}

test('the worker leaves pre-alerts that a batch has locked to its next piece, and ends the rename only then', async () => {
  const numbers = [newNumber(), newNumber(), newNumber()];
  const { code, to } = await makeRenamed(numbers);
  const [first = '', second = '', third = ''] = await inOrderOfIds(numbers);
  const client = await service().owner.connect();
  // The batch has the last row, and waits for the second one. Then the worker comes, which would have taken the first.
  await holding(client, second);
  const received = receiveAll([third, second, first]);
  await until(async () => (await waiting()) === 1);
  let hasEnded = false;
  const finished = finish().finally(() => (hasEnded = true));
  await until(async () => hasEnded || (await waiting()) === 2 || (await ofCodes([to])) === 1);
  expect([await ofCodes([code]), await ofCodes([to])]).toEqual([2, 1]);
  expect(await renamesLeft()).toHaveLength(1);
  await client.query('rollback');
  client.release();
  await finished;
  expect(await received).toMatchObject({ status: 200 });
  await finish();
  expect([await ofCodes([code]), await ofCodes([to])]).toEqual([0, 3]);
  expect(await renamesLeft()).toEqual([]);
}, 60_000);

test('the background migration of announced keys waits for the batch before it locks pre-alerts', async () => {
  const numbers = [newNumber(), newNumber(), newNumber()];
  await makeRenamed(numbers);
  const [first = '', second = '', third = ''] = await inOrderOfIds(numbers);
  await parcels.select(
    `update installation.background_migrations set status = 'running', tenant_id = null, last_key = null where name like '%_announced_keys'`,
  );
  const client = await service().owner.connect();
  await holding(client, second);
  const received = receiveAll([third, second, first]);
  await until(async () => (await waiting()) === 1);
  const stopping = new AbortController().signal;
  const migrated = runBackgroundMigrations(
    { db: service().db, stopping, log: pino({ level: 'silent' }) },
    MIGRATIONS,
  );
  await until(async () => (await waiting()) === 2);
  // The first row is free for the batch.
  await parcels.select('select from prealerts where tracking_number = $1 for update nowait', [first]);
  await client.query('rollback');
  client.release();
  expect(await received).toMatchObject({ status: 200 });
  await migrated;
  const keyed = await parcels.select(
    `select announced_key from prealerts where tracking_number = any($1::text[])`,
    [numbers],
  );
  expect(keyed.map((row) => row['announced_key']).sort()).toEqual([...numbers].sort());
}, 60_000);

test('stations that receive the parcels of a renamed customer beside the worker do not deadlock', async () => {
  const codes: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const numbers = Array.from({ length: 240 }, newNumber);
    const { code } = await makeRenamed(numbers);
    codes.push(code);
    // Against the order of the ids.
    const backwards = (await inOrderOfIds(numbers)).reverse();
    const batches = Array.from({ length: 8 }, (_, station) =>
      receiveAll(
        backwards.filter((_number, n) => n % 8 === station),
        `Dock ${station}`,
      ),
    );
    const replies = await Promise.all([...batches, finish(), finish()]);
    expect(new Set(replies.flatMap((reply) => (reply ? [reply.status] : [])))).toEqual(new Set([200]));
  }
  await finish();
  expect(await ofCodes(codes)).toBe(0);
  expect(await renamesLeft()).toEqual([]);
  expect(await deadlocksOf(service().owner)).toBe(0);
}, 120_000);
