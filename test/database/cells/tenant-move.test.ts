import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type pg from 'pg';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { migrate } from '../../../src/platform/db/migrations/migrate.js';
import { openDb } from '../../../src/platform/db/open-database.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { confirmMove, moveTenant, undoMove, type Move } from '../../../src/platform/db/tenant-move/move.js';
import { listTenantTables } from '../../../src/platform/db/tenant-move/tenant-tables.js';
import { countRows, startTwoCells, withMove, type TwoCells } from '../../support/rehearsal/cells.js';
import { plantMigrations } from '../../support/migrations/planted.js';
import { rounds } from '../../support/harness/effort.js';
import { removeFolders, run } from '../../support/service/processes.js';
import { serviceTokenOf } from '../../support/service/principals.js';
import { startService, type Reply, type Service } from '../../support/service/service.js';

// Moves a tenant between two databases of one server while requests arrive. test/long/move.test.ts does it with two servers,
// processes and webhooks.

const TWO = DEMO.tenants.two;

let cells: TwoCells;
let service: Service;
let other: ReturnType<typeof openDb>;
let tables: string[];

beforeAll(async () => {
  cells = await startTwoCells();
  other = openDb({ url: cells.urls.b, assumeRole: 'crossdock_app', size: 5, onError: () => undefined });
  service = await startService({
    database: { ownerUrl: cells.urls.a, drop: () => Promise.resolve() },
    cells: [{ name: 'cell-b', open: () => Promise.resolve(other) }],
  });
  tables = await withClient(cells.urls.a, listTenantTables);
}, 120_000);

afterAll(async () => {
  await service.stop();
  await other.close();
  await cells.server.stop();
  await removeFolders();
}, 60_000);

const announceTwo = (number: string) =>
  service.call('submitPrealert', {
    host: 'two.localhost',
    key: DEMO.apiKeys.TWO,
    body: { UserCode: 'TWO-3001', TrackingNumber: number },
  });

const announceDemo = (number: string) =>
  service.call('submitPrealert', {
    key: DEMO.apiKeys.IEX,
    body: { UserCode: 'IEX-1001', TrackingNumber: number },
  });

/** Announces parcels of both tenants until it is stopped. Returns the numbers that were acknowledged, and other statuses. */
function startAnnouncing(prefix: string) {
  const ending = { isOver: false };
  const found = { two: [] as string[], demo: [] as string[], refused: new Set<string>() };
  const announce = async (who: 'two' | 'demo', call: (number: string) => Promise<Reply>) => {
    for (let n = 0; !ending.isOver; n += 1) {
      const number = `${prefix}-${who}-${n}`;
      const { status, body } = await call(number);
      if (status === 201) found[who].push(number);
      else found.refused.add(`${who} ${status} ${String(body['code'])}`);
      await sleep(40);
    }
  };
  const running = Promise.all([announce('two', announceTwo), announce('demo', announceDemo)]);
  return {
    async stop() {
      ending.isOver = true;
      await running;
      return found;
    },
  };
}

async function numbersIn(url: string, tenantId: string, prefix: string): Promise<string[]> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ number: string }>(
      'select tracking_number as number from prealerts where tenant_id = $1 and starts_with(tracking_number, $2)',
      [tenantId, prefix],
    );
    return rows.map(({ number }) => number);
  });
}

const statesOf = async (): Promise<string[]> => {
  const rows = await Promise.all(
    Object.values(cells.urls).map((url) =>
      withClient(url, (client) =>
        client.query<{ state: string }>(
          `select coalesce((select state from installation.tenant_cells where tenant_id = $1 and state <> 'gone'),
             case when exists (select from tenants where id = $1) then 'active' else 'absent' end) as state`,
          [TWO],
        ),
      ),
    ),
  );
  return rows.map(({ rows: [row] }) => row?.state ?? '');
};

const silent = () => undefined;
const move = () => withMove(cells, 'two', (plan) => moveTenant(plan, silent), 'cell-b');
const undo = () => withMove(cells, 'two', (plan) => undoMove(plan, silent));

async function leftoversIn(url: string): Promise<unknown[]> {
  return withClient(url, async (client) => {
    const { rows } = await client.query(
      `select pubname::text as name from pg_publication
       union all select slot_name::text from pg_replication_slots where database = current_database()
       union all select subname::text from pg_subscription where subdbid = (select oid from pg_database where datname = current_database())
       union all select tgname::text from pg_trigger where tgname like 'cell_fence%'
       union all select state from installation.tenant_cells where state <> 'gone'
       union all select marker::text from installation.tenant_markers`,
    );
    return rows;
  });
}

test('every table with a tenant_id is moved', async () => {
  const others = await withClient(cells.urls.a, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select table_schema || '.' || table_name as name from information_schema.columns
       where column_name = 'tenant_id' order by 1`,
    );
    return rows.map(({ name }) => name).filter((name) => !tables.includes(name));
  });
  // The last tenant that a background migration has processed, and what a move itself records.
  expect(others).toEqual([
    'installation.background_migrations',
    'installation.tenant_cells',
    'installation.tenant_markers',
  ]);
  expect(tables).toContain('public.idempotency_keys');
});

test('a tenant moves and comes back while requests arrive: none is lost or doubled, and the other tenant fails none', async () => {
  await withClient(cells.urls.a, (client) =>
    client.query("select graphile_worker.add_job('sendAccountMail', $1::json, job_key => 'waits')", [
      JSON.stringify({ tenantId: TWO, mailId: DEMO.tenants.two }),
    ]),
  );
  const jobsIn = (url: string) =>
    withClient(
      url,
      async (client: pg.Client) => (await client.query('select from graphile_worker.jobs')).rowCount,
    );
  const token = await serviceTokenOf(service, 'two/two', ['packages:read']);
  const statusWithToken = async () =>
    (await service.call('listPackages', { token, host: DEMO.hosts.two })).status;
  const announcing = startAnnouncing('MOVE');
  const moved = await move();
  expect(moved?.comparison.differences).toEqual([]);
  expect(moved?.comparison.rows).toBeGreaterThan(50);
  expect(moved?.pauseSeconds).toBeLessThan(5);
  expect(await statesOf()).toEqual(['moved', 'active']);
  expect([await jobsIn(cells.urls.a), await jobsIn(cells.urls.b)]).toEqual([0, 1]);
  await sleep(1_000);
  const settings = await service.call('getCourierSettings', {
    as: 'two/admin',
    query: { id: DEMO.couriers.TWO },
  });
  // It is encrypted in the database that was copied.
  expect(settings.body['data'].api_key).toBe(DEMO.apiKeys.TWO);
  expect(await statusWithToken()).toBe(200);
  const undone = await undo();
  expect(undone?.pauseSeconds).toBeLessThan(5);
  await sleep(700);
  expect(await statusWithToken()).toBe(200);
  const { two, demo, refused } = await announcing.stop();
  expect([...refused]).toEqual(refused.size > 0 ? ['two 503 unavailable'] : []);
  expect((await numbersIn(cells.urls.a, TWO, 'MOVE')).sort()).toEqual([...two].sort());
  expect((await numbersIn(cells.urls.a, DEMO.tenants.demo, 'MOVE')).sort()).toEqual([...demo].sort());
  expect(await countRows(cells.urls.b, tables, TWO)).toEqual({});
  expect([...(await leftoversIn(cells.urls.a)), ...(await leftoversIn(cells.urls.b))]).toEqual([]);
  expect([await jobsIn(cells.urls.a), await jobsIn(cells.urls.b)]).toEqual([1, 0]);
}, 120_000);

test.each([
  ['slug', ['--slug', 'two', '--host', 'free.example.com'], 'The cell cell-a has a tenant two.'],
  [
    'host',
    ['--slug', 'free', '--host', 'free.example.com', '--host', 'two.localhost'],
    'The host two.localhost belongs to a tenant of the cell cell-a.',
  ],
])('no tenant is created with a %s of another cell', async (_what, args, line) => {
  const env = {
    DATABASE_OWNER_URL: cells.urls.b,
    DATABASE_CELL: 'cell-b',
    DATABASE_OWNER_CELLS: `cell-a=${cells.urls.a}`,
  };
  const program = run('src/commands/tenant-create.js', env, [...args, '--name', 'X']);
  expect(await program.ended).toMatchObject({ code: 1 });
  expect(program.output()).toBe(`${line}\n`);
  const tenants = await withClient(cells.urls.b, (client) => client.query('select from tenants'));
  expect(tenants.rowCount).toBe(0);
});

test('cells that differ are not switched: the tenant stays where it was, and an undo removes the copy', async () => {
  const stopped = withMove(
    cells,
    'two',
    (plan) =>
      moveTenant(plan, (line) => {
        if (line.startsWith('Closed')) throw new Error('stopped');
      }),
    'cell-b',
  );
  await expect(stopped).rejects.toThrow('stopped');
  expect(await statesOf()).toEqual(['moving', 'arriving']);
  expect((await announceTwo('DIFFERS')).status).toBe(503);
  await withClient(cells.urls.b, async (client) => {
    await client.query('set session_replication_role = replica');
    await client.query("update carriers set name = name || '?' where tenant_id = $1", [TWO]);
  });
  await expect(move()).rejects.toThrow(
    'These tables differ between the cells: public.carriers (6 and 6 rows).',
  );
  expect(await statesOf()).toEqual(['active', 'arriving']);
  expect((await announceTwo('DIFFERS')).status).toBe(201);
  const folder = await plantMigrations({
    name: '20990101000000_planted',
    script: 'alter table carriers add extra text',
  });
  for (const url of Object.values(cells.urls))
    await expect(migrate(url, folder)).rejects.toThrow(`The tenant ${TWO} is being moved, with the cell`);
  expect(await undo()).toBeUndefined();
  expect(await statesOf()).toEqual(['active', 'absent']);
  expect(await countRows(cells.urls.b, tables, TWO)).toEqual({});
  expect([...(await leftoversIn(cells.urls.a)), ...(await leftoversIn(cells.urls.b))]).toEqual([]);
}, 120_000);

/** Ends both connections of the command at its nth statement, as a crash does. */
async function crashAt(nth: number, plan: Move, run: (plan: Move) => Promise<unknown>): Promise<boolean> {
  let count = 0;
  const clients = [plan.source.client, plan.target.client];
  for (const client of clients) {
    const query = client.query.bind(client);
    Reflect.set(client, 'query', (...args: unknown[]) => {
      count += 1;
      if (count >= nth) throw new Error('crashed');
      return Reflect.apply(query, client, args);
    });
  }
  try {
    await run(plan);
    return false;
  } catch (error) {
    if (count >= nth) return true;
    throw error;
  }
}

test('a move that crashes at any statement continues, and never are both cells active', async () => {
  const announcing = startAnnouncing('CRASH');
  let [isCrashed, crashes] = [true, 0];
  // Few of the statements that prepare the move, and more of those that switch and complete it.
  for (let nth = 20; isCrashed; nth += nth < 150 ? 60 : rounds(9, 1)) {
    isCrashed = await withMove(
      cells,
      'two',
      (plan) => crashAt(nth, plan, (each) => moveTenant(each, silent)),
      'cell-b',
    );
    crashes += 1;
    const states = await statesOf();
    expect(states.filter((state) => state === 'active').length).toBeLessThanOrEqual(1);
  }
  expect(await statesOf()).toEqual(['moved', 'active']);
  const { two, refused } = await announcing.stop();
  expect(refused).toEqual(new Set(['two 503 unavailable']));
  expect((await numbersIn(cells.urls.b, TWO, 'CRASH')).sort()).toEqual([...two].sort());
  expect(crashes).toBeGreaterThan(6);
}, 240_000);

test('a confirmed move leaves nothing of the tenant in the source', async () => {
  let isCrashed = true;
  for (let nth = 1; isCrashed; nth += rounds(17, 7))
    isCrashed = await withMove(cells, 'two', (plan) =>
      crashAt(nth, plan, (each) => confirmMove(each, silent)),
    );
  expect(await countRows(cells.urls.a, tables, TWO)).toEqual({});
  expect(await statesOf()).toEqual(['absent', 'active']);
  expect([...(await leftoversIn(cells.urls.a)), ...(await leftoversIn(cells.urls.b))]).toEqual([]);
  expect((await announceTwo('CONFIRMED')).status).toBe(201);
  expect(await numbersIn(cells.urls.b, TWO, 'CONFIRMED')).toEqual(['CONFIRMED']);
}, 60_000);
