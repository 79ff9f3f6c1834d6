import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ConfigError, readOwnerCells } from '../../../src/config/config.js';
import { developmentConfig } from '../../support/staging/development.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { openCells } from '../../../src/startup/cells.js';
import { freshDatabase, type TestDatabase } from '../../support/service/database.js';

const HOME = 'postgres://service@127.0.0.1/crossdock';

let database: TestDatabase;
let adminUrl: string;

beforeAll(async () => {
  database = await freshDatabase();
  adminUrl = Object.assign(new URL(database.ownerUrl), { pathname: '/postgres' }).href;
});

afterAll(() => database.drop());

const nameOf = (url: string) => new URL(url).pathname.slice(1);

const settings = (cells: string, env: Record<string, string> = {}) =>
  developmentConfig({ DATABASE_URL: HOME, DATABASE_CELLS: cells, ...env });

test('a cell that is unavailable at the start is used as soon as it is there', async () => {
  const later = `${nameOf(database.ownerUrl)}_later`;
  const url = Object.assign(new URL(database.ownerUrl), { pathname: `/${later}` }).href;
  const opened = openCells({ config: settings(`cell-b=${url}`), poolSize: 10 });
  const [cell] = opened.cells;
  expect(cell?.name).toBe('cell-b');
  await expect(cell?.open()).rejects.toThrow(ConfigError);
  const rename = (from: string, to: string) =>
    withClient(adminUrl, (client) => client.query(`alter database "${from}" rename to "${to}"`));
  await rename(nameOf(database.ownerUrl), later);
  const db = await cell?.open();
  const { rows } =
    (await db?.pool.query('select current_user::text as role, current_database()::text as name')) ?? {};
  expect(rows).toEqual([{ role: 'crossdock_app', name: later }]);
  expect(await cell?.open()).toBe(db);
  await opened.close();
  await rename(later, nameOf(database.ownerUrl));
});

test('a cell that refuses the login fails at once, because requests of other cells wait for it', async () => {
  const url = Object.assign(new URL(database.ownerUrl), { username: 'nobody', password: 'wrong' }).href;
  const opened = openCells({ config: settings(`cell-b=${url}`), poolSize: 10 });
  const startMs = performance.now();
  await expect(opened.cells[0]?.open()).rejects.toThrow('DATABASE_CELLS (cell-b)');
  expect(performance.now() - startMs).toBeLessThan(5_000);
  await opened.close();
});

test('a cell whose login bypasses row-level security is not used in production', async () => {
  // The test before it has used the database in development.
  await withClient(database.ownerUrl, (client) => client.query('delete from installation.deployments'));
  const secrets = {
    TOKEN_KEYS: `k1:${'test-key-0123456789'.repeat(3)}`,
    ENCRYPTION_KEYS: `1:${'0123456789abcdef'.repeat(4)}`,
    LOOKUP_KEY: 'fedcba9876543210'.repeat(4),
  };
  const config = settings(`cell-b=${database.ownerUrl}`, {
    APP_ENV: 'production',
    TRUST_PROXY: '127.0.0.1',
    ...secrets,
  });
  const opened = openCells({ config, poolSize: config.poolSize });
  await expect(opened.cells[0]?.open()).rejects.toThrow(
    'DATABASE_CELLS (cell-b) must not be able to bypass row-level security',
  );
  await opened.close();
});

describe('the settings of cells', () => {
  test.each([
    ['cell-b', 'DATABASE_CELLS must be name=postgres://… pairs'],
    ['cell-b=mysql://db/x', 'DATABASE_CELLS must be name=postgres://… pairs'],
    ['main=postgres://db/x', 'DATABASE_CELLS names the cell main twice'],
    ['b=postgres://db/x,b=postgres://db/y', 'DATABASE_CELLS names the cell b twice'],
    ['b=postgres://a:%zz@[/x', 'DATABASE_CELLS has no usable URL of the cell b'],
  ])('%s is refused', (value, message) => {
    expect(() => settings(value)).toThrow(message);
  });

  test('several cells are read in their order, and a URL may contain an equals sign', () => {
    expect(settings('b=postgres://db/x?sslmode=require, c=postgres://db/y').cells).toEqual([
      { name: 'b', url: 'postgres://db/x?sslmode=require' },
      { name: 'c', url: 'postgres://db/y' },
    ]);
    expect(settings('').cells).toEqual([]);
  });

  test('need DATABASE_URL beside them, and tenant:move needs the connections of the owners', () => {
    expect(() => developmentConfig({ DATABASE_CELLS: 'b=postgres://db/x' })).toThrow(
      'DATABASE_CELLS needs DATABASE_URL',
    );
    expect(() => readOwnerCells({ APP_ENV: 'staging', DATABASE_OWNER_CELLS: 'b=postgres://db/x' })).toThrow(
      'Set DATABASE_OWNER_URL',
    );
    expect(() => readOwnerCells({ APP_ENV: 'staging', DATABASE_OWNER_URL: HOME })).toThrow(
      'DATABASE_OWNER_CELLS must be',
    );
    const owners = {
      APP_ENV: 'staging',
      DATABASE_OWNER_URL: HOME,
      DATABASE_CELL: 'a',
      DATABASE_OWNER_CELLS: 'b=postgres://db/x',
    };
    expect([...readOwnerCells(owners)]).toEqual([
      ['a', HOME],
      ['b', 'postgres://db/x'],
    ]);
  });
});
