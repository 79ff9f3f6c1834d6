import { dirname } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  findAmbientState,
  findConnections,
  findUncheckedLocks,
} from '../support/architecture/database-access.js';
import { findCrowdedFolders, findCycles, importsOf } from '../support/architecture/imports.js';
import { findRowCasts } from '../support/architecture/row-casts.js';
import { findSplitTexts } from '../support/architecture/split-texts.js';

// The checks of architecture.test.ts, on inserted violations.

const path = 'src/modules/parcels/list/list.ts';
const CONTEXT = "import type { UserContext } from '../../../platform/context/request-context.js';\n";

/** A file that handles rows, with this code. */
const withRows = (code: string) => ({ path, text: CONTEXT + code });

describe('findRowCasts finds', () => {
  test.each([
    ['the result of a query', 'const all = (await tx.query(rows())) as Row[];'],
    ['the result of a read', 'const [all] = (await ctx.read([rows()])) as [Row[]];'],
    ['the result of a write', 'const all = (await ctx.write([rows()]))[0] as Row[];'],
    ['the result of a model', 'const one = (await tx.models.user.findFirst({ where: { id } })) as Row;'],
    ['a variable', 'const [found] = await ctx.read([rows()]);\nreturn found as Row[];'],
    ['an element', 'return found?.[0] as Row | undefined;'],
    ['a default', 'return (found ?? []) as Row[];'],
    ['several rows', 'const [a, b] = [heads, lines] as [HeadRow[], LineRow[]];'],
    ['a slice', 'const [a] = results.slice(-2) as [Row[]?];'],
    ['a column', "return view(row.status as Schemas['PackageStatus']);"],
    ['a column that was passed to a function', 'const statusOf = (status: string) => status as Status;'],
    ['a double cast', 'return found as unknown as Row[];'],
    ['an assertion in angle brackets', 'return <Row[]>found;'],
    ['a spread row', 'return { ...row } as Row;'],
    ['a value of a row', 'for (const value of Object.values(row)) use(value as string);'],
    ['an element of rows', 'return rows.map((row) => row as Row);'],
    ['a row type that is stated where the statement is run', 'return tx.query<Row>(statement);'],
  ])('%s', (_what, code) => {
    const found = findRowCasts(withRows(code));
    expect(found).not.toEqual([]);
    expect(found[0]).toMatch(/^src\/modules\/parcels\/list\/list\.ts:[23]: /);
  });

  test('casts in a file that only imports a row type from a queries file', () => {
    const text =
      "import type { Row } from './list-queries.js';\nexport const view = (row: object) => row as Row;";
    expect(findRowCasts({ path, text })).toEqual([`${path}:2: row as Row`]);
  });
});

describe('findRowCasts accepts', () => {
  test.each([
    ['as const', "return { status: 'draft' as const, names: ['a', 'b'] as const };"],
    ['keys', 'const names = Object.keys(NO_FIELDS) as (keyof Fields)[];'],
    ['a key in a callback', 'Object.entries(input).filter(([name]) => shown[name as keyof Fields]);'],
    ['a key in a loop', 'for (const name of Object.keys(input)) use(name as keyof Fields);'],
    ['parsed JSON', 'return JSON.parse(text) as Invoice;'],
    ['a caught error', 'return (error as pg.DatabaseError).detail;'],
    ['a renamed import', "import { view as viewParcel } from './view.js';"],
    ['casts in comments and texts', "// rows as Row[]\nconst text = 'rows as Row[]';"],
    ['the type argument of a driver', "client.query<{ id: string }>('select id from users');"],
  ])('%s', (_what, code) => {
    expect(findRowCasts(withRows(code))).toEqual([]);
  });

  test('casts in files that handle no rows', () => {
    expect(
      findRowCasts({ path, text: 'export const toPictures = (doc: unknown) => doc as Pictures;' }),
    ).toEqual([]);
  });
});

describe('findAmbientState', () => {
  test.each([
    "import { AsyncLocalStorage } from 'node:async_hooks';",
    "import hooks from 'async_hooks';",
    'const admitted = new WeakSet<Caller>();',
    'export const storage: AsyncLocalStorage<Unit> = make();',
  ])('finds %s', (text) => {
    expect(findAmbientState({ path, text })[0]).toMatch(`${path}:1: `);
  });

  test('accepts a name in a comment or a text, and a cache', () => {
    const text =
      "/** Without AsyncLocalStorage. */\nconst clients = new WeakMap();\nthrow new Error('no WeakSet');";
    expect(findAmbientState({ path, text })).toEqual([]);
  });
});

describe('findConnections', () => {
  test.each([
    "import { readAtOnce } from '../../../platform/db/transactions/at-once.js';",
    "import { enterScope } from '../../../platform/db/transactions/admission.js';",
    "import { openTransaction } from '../../../platform/db/transactions/open-transaction.js';",
    "import { openDb } from '../../../platform/db/open-database.js';",
    "import { createPool } from '../../../platform/db/connections/pool.js';",
    "import pg from 'pg';",
    "import { PrismaPg } from '@prisma/adapter-pg';",
    "import { PrismaClient } from '../../../../generated/prisma/client.js';",
    'const client = new pg.Client(url);',
    'const client = await db.pool.connect();',
    "const { rows } = await pool.query('select 1');",
    'const user = await db.prisma.user.findFirst();',
    'await prisma.$transaction(work);',
    'await client.$queryRaw(statement);',
  ])('finds %s', (text) => {
    expect(findConnections({ path, text })).toHaveLength(1);
  });

  test.each([
    "import type pg from 'pg';",
    "import type { PoolOptions } from '../../../platform/db/connections/pool.js';",
    "import { sql, type Sql } from '../../../platform/db/statements.js';",
    'await ctx.write((tx) => tx.query(statement));',
    'findPending(pool, migrations);',
  ])('accepts %s', (text) => {
    expect(findConnections({ path, text })).toEqual([]);
  });
});

test('findUncheckedLocks finds a lock outside of locks.ts, and ignores comments', () => {
  const lock = 'tx.later(sql`select pg_advisory_xact_lock(${key})`);';
  expect(findUncheckedLocks({ path, text: lock })).toHaveLength(1);
  expect(findUncheckedLocks({ path, text: "query('select pg_advisory_xact_lock_shared(1)');" })).toHaveLength(
    1,
  );
  expect(findUncheckedLocks({ path, text: '// pg_advisory_xact_lock' })).toEqual([]);
  expect(findUncheckedLocks({ path: 'src/platform/db/locks.ts', text: lock })).toEqual([]);
});

describe('the checks of imports and folders', () => {
  const from = (file: string, ...texts: string[]) =>
    importsOf({ path: `src/modules/${file}.ts`, text: texts.join('\n') });

  test('a cycle of files is found, even if it consists of type imports', () => {
    const imports = [
      ...from('a/one', "import type { B } from '../b/two.js';"),
      ...from('b/two', "export { c } from '../c/three.js';"),
      ...from('c/three', "import type { A } from '../a/one.js';"),
    ];
    const cycle = ['a/one', 'b/two', 'c/three', 'a/one'].map((file) => `src/modules/${file}.ts`);
    expect(findCycles(imports, (file) => file)).toEqual([cycle.join(' -> ')]);
  });

  test('a cycle of folders is found, even if its files have none', () => {
    const imports = [
      ...from('a/one', "import { two } from '../b/two.js';"),
      ...from('b/three', "import { four } from '../a/four.js';"),
    ];
    expect(findCycles(imports, (file) => file)).toEqual([]);
    expect(findCycles(imports, dirname)).toEqual(['src/modules/a -> src/modules/b -> src/modules/a']);
  });

  test('a dynamic import counts as an import', () => {
    const imports = [
      ...from('a/one', "import { two } from './two.js';"),
      ...from('a/two', "const one = await import('./one.js');"),
    ];
    expect(findCycles(imports, (file) => file)).toHaveLength(1);
  });

  test('a folder with too many files is found, and files of sub-folders are not counted', () => {
    const paths = Array.from({ length: 15 }, (_, n) => `src/modules/parcels/file-${n}.ts`);
    const below = paths.map((file, n) => file.replace('parcels', n % 2 === 0 ? 'parcels/a' : 'parcels/b'));
    expect(findCrowdedFolders([...paths, ...below], 14)).toEqual(['src/modules/parcels: 15']);
    expect(findCrowdedFolders(paths.slice(1), 14)).toEqual([]);
  });
});

test('findSplitTexts finds a list that is written as a text, and no text from elsewhere', () => {
  expect(findSplitTexts({ path, text: "const names = new Set('a b'.split(' '));" })).toHaveLength(1);
  expect(
    findSplitTexts({ path, text: "const parts = name.split('.'); const more = `${name} b`.split(' ');" }),
  ).toEqual([]);
});
