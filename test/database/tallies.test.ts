import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { demoDatabase, type TestDatabase } from '../support/service/database.js';
import { DEMO } from '../../fixtures/demo/seed.js';

// The triggers that count customers, packages and pre-alerts (decision 0113). Two connections with equal remainders of their process
// ids had the same slot before.

const { IEX, HRB } = DEMO.couriers;
const TENANT = DEMO.tenants.demo;
const SLOTS = 32;

type Table = 'customers' | 'packages' | 'prealerts';

/** What differs between the rows of a table, and a change that moves a row to another tally. */
const TABLES: Record<Table, { own: (id: string) => object; change: string }> = {
  customers: { own: (id) => ({ user_code: id, branch: null }), change: `branch = 'Moved'` },
  packages: {
    own: (id) => ({ tracking_key: id, tracking_number: id, house_number: id, prealert_id: null }),
    change: 'weight_lb = weight_lb + 1',
  },
  prealerts: {
    own: (id) => ({ tracking_key: id, tracking_number: id, announced_key: id, status: 'pending' }),
    change: `status = 'received'`,
  },
};

let database: TestDatabase;
let pool: pg.Pool;
let pair: [pg.PoolClient, pg.PoolClient];

beforeAll(async () => {
  database = await demoDatabase();
  pool = new pg.Pool({ connectionString: database.ownerUrl, max: 2 * SLOTS });
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

beforeEach(async () => {
  pair = await connectPair();
});

afterEach(async () => {
  for (const client of pair) {
    await client.query('rollback');
    client.release(true);
  }
});

/** Two connections whose process ids have equal remainders. */
async function connectPair(): Promise<[pg.PoolClient, pg.PoolClient]> {
  const byRemainder = new Map<number, pg.PoolClient>();
  for (let n = 0; n <= SLOTS; n += 1) {
    const client = await pool.connect();
    const { rows } = await client.query<{ own: number }>(`select pg_backend_pid() % ${SLOTS} as own`);
    const own = rows[0]?.own ?? -1;
    const other = byRemainder.get(own);
    byRemainder.delete(own);
    if (other) {
      for (const left of byRemainder.values()) left.release();
      return [other, client];
    }
    byRemainder.set(own, client);
  }
  throw new Error('No two connections have equal remainders.');
}

const begin = async (client: pg.PoolClient) => {
  await client.query('begin');
  await client.query(
    `select set_config('app.tenant_id', $1, true), set_config('app.courier_id', 'all', true)`,
    [TENANT],
  );
};

async function insert(client: pg.PoolClient, table: Table, courierId: string): Promise<string> {
  const id = randomUUID();
  const { rowCount } = await client.query(
    `insert into ${table} select (jsonb_populate_record(t, $1::jsonb)).*
     from ${table} t where tenant_id = $2 limit 1`,
    [{ ...TABLES[table].own(id), id, courier_id: courierId }, TENANT],
  );
  expect(rowCount).toBe(1);
  return id;
}

async function insertBoth(client: pg.PoolClient, table: Table): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const courierId of [IEX, HRB]) ids.set(courierId, await insert(client, table, courierId));
  return ids;
}

/** Runs both works of two transactions in opposite orders of the couriers. */
async function inOppositeOrders(
  work: (client: pg.PoolClient, courierId: string) => Promise<unknown>,
): Promise<void> {
  const [one, other] = pair;
  for (const client of pair) await begin(client);
  await work(one, IEX);
  await work(other, HRB);
  await Promise.all([work(one, HRB), work(other, IEX)]);
  for (const client of pair) await client.query('commit');
}

/** The tallies that differ from the counted rows. */
async function wrongTallies(table: Table): Promise<unknown[]> {
  const tallies = `${table.slice(0, -1)}_tallies`;
  const ofAll = table === 'customers' ? `where branch = ''` : '';
  const { rows } = await pool.query(
    `select * from (select tenant_id, coalesce(courier_id, $1) as courier_id, count(*) as n from ${table} group by 1, 2) as counted
     full join (select tenant_id, courier_id, sum(total) as n from ${tallies} ${ofAll} group by 1, 2) as tallied
       using (tenant_id, courier_id)
     where counted.n is distinct from tallied.n`,
    ['00000000-0000-0000-0000-000000000000'],
  );
  return rows;
}

describe.each(['customers', 'packages', 'prealerts'] as const)('the tallies of %s', (table) => {
  afterEach(async () => expect(await wrongTallies(table)).toEqual([]));

  test('two transactions that add rows of two couriers in opposite orders do not wait for each other', async () => {
    await inOppositeOrders((client, courierId) => insert(client, table, courierId));
  });

  test('nor do two that change rows', async () => {
    const rows = new Map(pair.map((client) => [client, new Map<string, string>()]));
    for (const client of pair) rows.set(client, await insertBoth(client, table));
    await inOppositeOrders((client, courierId) =>
      client.query(`update ${table} set ${TABLES[table].change} where id = $1`, [
        rows.get(client)?.get(courierId),
      ]),
    );
  });

  test('nor do two that remove rows', async () => {
    const rows = new Map(pair.map((client) => [client, new Map<string, string>()]));
    for (const client of pair) rows.set(client, await insertBoth(client, table));
    await inOppositeOrders((client, courierId) =>
      client.query(`delete from ${table} where id = $1`, [rows.get(client)?.get(courierId)]),
    );
  });
});

test('more transactions than slots count at the same time, each in a slot of its own, which later ones use again', async () => {
  const slots = async () => {
    const { rows } = await pool.query<{ slots: number }>(
      'select count(distinct slot)::int as slots from prealert_tallies where tenant_id = $1 and courier_id = $2',
      [TENANT, IEX],
    );
    return rows[0]?.slots;
  };
  for (let round = 0; round < 2; round += 1) {
    const clients = await Promise.all(Array.from({ length: SLOTS + 8 }, () => pool.connect()));
    for (const client of clients) {
      await begin(client);
      await insert(client, 'prealerts', IEX);
    }
    for (const client of clients) {
      await client.query('commit');
      client.release();
    }
    expect(await slots()).toBe(SLOTS + 8);
  }
  expect(await wrongTallies('prealerts')).toEqual([]);
});
