import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { findTenants, type Cell } from '../../../src/platform/db/cells.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { sql } from '../../../src/platform/db/statements.js';
import { close, installFence, removeFence } from '../../../src/platform/db/tenant-move/fence.js';
import { listTenantTables } from '../../../src/platform/db/tenant-move/tenant-tables.js';
import { systemCallers } from '../../../src/platform/db/database.js';
import type { OwnedCell } from '../../../src/platform/db/tenant-move/cell-state.js';
import type { Caller } from '../../../src/platform/identity/callers.js';
import { until } from '../../support/service/processes.js';
import { startService, type Service } from '../../support/service/service.js';

// What the database itself refuses while a tenant is in another cell.

const TWO = DEMO.tenants.two;

let service: Service;
let url: string;

beforeAll(async () => {
  service = await startService();
  url = String(service.owner.options.connectionString);
  await withCell(async (cell) => installFence(cell, await listTenantTables(cell.client), TWO));
});

afterEach(() => setState(undefined));

afterAll(async () => {
  await withCell((cell) => removeFence(cell, TWO));
  const { rowCount } = await service.owner.query("select from pg_trigger where tgname like 'cell_fence%'");
  expect(rowCount).toBe(0);
  await service.stop();
});

const withCell = (work: (cell: OwnedCell) => Promise<void>): Promise<void> =>
  withClient(url, (client) => work({ name: 'main', url, client }));

async function setState(state: string | undefined): Promise<void> {
  await service.owner.query('delete from installation.tenant_cells');
  if (!state) return;
  await service.owner.query(
    "insert into installation.tenant_cells (tenant_id, state, role, other_cell) values ($1, $2, 'source', 'cell-b')",
    [TWO, state],
  );
}

const announce = (number: string) =>
  service.call('submitPrealert', {
    host: 'two.localhost',
    key: DEMO.apiKeys.TWO,
    body: { UserCode: 'TWO-3001', TrackingNumber: number },
  });
const list = () => service.call('listPackages', { as: 'two/admin', body: { limit: 5 } });
const logIn = () =>
  service.call('login', {
    host: 'two.localhost',
    body: { action: 'login', username: 'admin', password: DEMO.password },
  });

describe.each(['arriving', 'moved', 'gone'])('a tenant whose state is %s', (state) => {
  test('is refused with 503 for tokens, API keys and logins, and other tenants are served', async () => {
    await list();
    await setState(state);
    for (const reply of [await announce(`FENCE-${state}`), await list(), await logIn()]) {
      expect([reply.status, reply.body['code']]).toEqual([503, 'unavailable']);
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await service.call('listPackages', { as: 'admin', body: { limit: 5 } })).status).toBe(200);
  });

  test('has no jobs', async () => {
    expect((await systemCallers(service.db)).map(({ tenantId }) => tenantId)).toContain(TWO);
    await setState(state);
    expect((await systemCallers(service.db)).map(({ tenantId }) => tenantId)).not.toContain(TWO);
  });

  test('cannot be read: not by the service itself, and not with a known or an unknown API key', async () => {
    const { rows } = await service.owner.query<{ hash: string }>(
      'select api_key_hash as hash from couriers where id = $1',
      [DEMO.couriers.TWO],
    );
    const keys = [rows[0]?.hash ?? '', 'unknown'].map(
      (keyHash) => ({ kind: 'key', tenantId: TWO, keyHash, address: '192.0.2.1' }) as const,
    );
    const callers: Caller[] = [{ kind: 'system', tenantId: TWO }, ...keys];
    const read = (caller: Caller) =>
      makeContext(service.db, caller, 'test').read([sql`select count(*) from couriers`]);
    expect(await read(callers[1] as Caller)).toEqual([[{ count: '1' }]]);
    await setState(state);
    for (const caller of callers) await expect(read(caller)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

test('a tenant that is being closed serves reads and refuses writes', async () => {
  await setState('moving');
  expect((await list()).status).toBe(200);
  const refused = await announce('FENCE-MOVING');
  expect([refused.status, refused.body['code']]).toEqual([503, 'unavailable']);
  await setState('active');
  expect((await announce('FENCE-MOVING')).status).toBe(201);
});

test('the fence refuses insert, update and delete of any session of the service, on every table', async () => {
  await setState('moving');
  const tables = await withClient(url, listTenantTables);
  const { rows } = await service.owner.query<{ table: string; triggers: number }>(
    `select format('%I.%I', n.nspname, t.relname) as table, count(*)::int as triggers
     from pg_trigger g join pg_class t on t.oid = g.tgrelid join pg_namespace n on n.oid = t.relnamespace
     where g.tgname like 'cell_fence%' group by 1 order by 1`,
  );
  expect(rows).toEqual(tables.map((table) => ({ table, triggers: 2 })));
  const statements = [
    'update carriers set name = name where tenant_id = $1',
    'delete from carriers where tenant_id = $1',
    "insert into carriers (tenant_id, id, name) values ($1, new_id(), 'x')",
  ];
  for (const statement of statements)
    await expect(service.owner.query(statement, [TWO])).rejects.toMatchObject({ code: '57P03' });
  await service.owner.query('update carriers set name = name where tenant_id = $1', [DEMO.tenants.demo]);
});

test('closing waits for the writing transactions of the tenant, and for no others', async () => {
  await setState('active');
  const touch = 'update carriers set name = name where tenant_id = $1';
  await withClient(url, (one) =>
    withClient(url, async (other) => {
      await one.query('begin');
      await one.query(touch, [TWO]);
      await other.query('begin');
      await other.query(touch, [DEMO.tenants.demo]);
      let isClosed = false;
      const closing = withCell((cell) => close(cell, TWO)).then(() => (isClosed = true));
      await until(async () => {
        const { rowCount } = await service.owner.query(
          "select from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock' and not granted",
        );
        return (rowCount ?? 0) > 0;
      });
      const { rows } = await service.owner.query<{ state: string }>(
        'select state from installation.tenant_cells',
      );
      expect([isClosed, rows]).toEqual([false, [{ state: 'active' }]]);
      await one.query('commit');
      await closing;
      await expect(one.query(touch, [TWO])).rejects.toMatchObject({ code: '57P03' });
      await other.query('commit');
    }),
  );
});

describe('the directory', () => {
  const cellOf = (name: string, open: Cell['open']): Cell => ({ name, open });
  const home = () => cellOf('main', () => Promise.resolve(service.db));
  const find = async (cells: Cell[], host: string) => (await findTenants(cells, [host, 'x.y'])).get(host);
  const UNAVAILABLE = { isExact: false, error: expect.objectContaining({ code: 'unavailable' }) };
  const broken = () => cellOf('cell-b', () => Promise.reject(new Error('The server is down.')));

  test('finds a tenant by its exact host although another cell is unavailable', async () => {
    const found = await find([home(), broken()], 'two.localhost');
    expect(found?.tenant?.tenantId).toBe(TWO);
  });

  test('serves nobody at a host that two cells serve', async () => {
    expect(await find([home(), home()], 'two.localhost')).toEqual(UNAVAILABLE);
  });

  test('does not give the host of an unavailable cell to the tenant of all other hosts', async () => {
    expect((await find([home()], 'elsewhere.example'))?.tenant?.tenantId).toBe(DEMO.tenants.demo);
    expect(await find([home(), broken()], 'elsewhere.example')).toEqual(UNAVAILABLE);
  });

  test('serves reads of a tenant that is being closed, and none of a tenant that is active nowhere', async () => {
    await setState('moving');
    expect((await find([home()], 'two.localhost'))?.tenant?.tenantId).toBe(TWO);
    await setState('moved');
    expect(await find([home()], 'two.localhost')).toEqual(UNAVAILABLE);
  });
});
