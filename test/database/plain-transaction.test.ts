import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeContext, type RequestContext } from '../../src/platform/context/request-context.js';
import { inUnitOfWork } from '../../src/platform/db/transactions/unit-of-work.js';
import { once, sql, type Sql } from '../../src/platform/db/statements.js';
import { DEMO } from '../../src/development/demo/seed.js';
import { newId } from '../../src/platform/values/ids.js';
import { until } from '../support/service/processes.js';
import { startService, type Service } from '../support/service/service.js';

let service: Service;
const tenantId = DEMO.tenants.demo;

beforeAll(async () => {
  // One connection, whose prepared statements a test reads.
  service = await startService({ poolSize: 1 });
});

afterAll(() => service.stop());

const context = () => makeContext(service.db, { kind: 'system', tenantId }, 'a-request');

/** A caller whose account does not exist. */
function refused(): RequestContext {
  const account = { tenantId, userId: newId(), role: 'admin', courierId: null } as const;
  return makeContext(service.db, { kind: 'user', ...account, tokenVersion: 1, expiresAt: 4e9 }, 'a-request');
}

const insert = (id: string, name = id): Sql<{ id: string }> =>
  sql`insert into carriers (tenant_id, id, name) values (${tenantId}::uuid, ${id}::uuid, ${name}) returning id`;
const find = (id: string) => sql<{ id: string }>`select id from carriers where id = ${id}::uuid`;
const fail = sql`select 1 / 0`;

const stored = async (id: string): Promise<number> =>
  (await service.owner.query('select from carriers where id = $1', [id])).rowCount ?? 0;

describe('a deferred statement', () => {
  test('runs before the next statement, in its order', async () => {
    const [first, second] = [newId(), newId()];
    const rows = await context().preparedTransaction(async (tx) => {
      await tx.defer(insert(first));
      await tx.defer(insert(second));
      return tx.queryAll([find(first), find(second), find(newId())]);
    });
    expect(rows).toEqual([[{ id: first }], [{ id: second }], []]);
  });

  test('is committed if no statement follows', async () => {
    const id = newId();
    await context().preparedTransaction((tx) => tx.defer(insert(id)));
    expect(await stored(id)).toBe(1);
  });

  test('that fails rejects the next statement, or the transaction, and nothing is stored', async () => {
    const id = newId();
    const next = context().preparedTransaction(async (tx) => {
      await tx.defer(insert(id));
      await tx.defer(fail);
      await expect(tx.query(find(id))).rejects.toMatchObject({ code: '22012' });
      throw new Error('the statement was rejected');
    });
    await expect(next).rejects.toThrow('the statement was rejected');
    const atEnd = context().preparedTransaction(async (tx) => {
      await tx.execute(insert(id));
      await tx.defer(fail);
    });
    await expect(atEnd).rejects.toMatchObject({ code: '22012' });
    expect(await stored(id)).toBe(0);
  });

  test('is not sent when the work fails', async () => {
    const id = newId();
    const work = context().preparedTransaction(async (tx) => {
      await tx.execute(insert(id));
      await tx.defer(insert(id));
      throw new Error('refused');
    });
    await expect(work).rejects.toThrow('refused');
    expect(await stored(id)).toBe(0);
  });

  test('that ends in a deadlock at the commit is retried', async () => {
    const id = newId();
    let attempts = 0;
    await context().preparedTransaction(async (tx) => {
      attempts += 1;
      await tx.execute(insert(id));
      if (attempts < 3) await tx.defer(sql`do $$ begin raise 'again' using errcode = '40P01'; end $$`);
    });
    expect([attempts, await stored(id)]).toEqual([3, 1]);
  });

  test('that fails in a unit of work fails the work, so the handler can translate its error', async () => {
    const id = newId();
    const seen: unknown[] = [];
    const steps = { open: async () => undefined, close: async () => undefined };
    const ctx = context();
    const handle = async () => {
      try {
        await ctx.preparedTransaction(async (tx) => {
          await tx.execute(insert(id));
          await tx.defer(fail);
        });
      } catch (error) {
        seen.push(error);
      }
    };
    await inUnitOfWork(steps, handle, (unit) => ctx.attachUnitOfWork(unit));
    expect(seen).toMatchObject([{ code: '22012' }]);
    expect(await stored(id)).toBe(0);
  });
});

describe('a caller that the database refuses', () => {
  const WRITES: Record<string, (ctx: RequestContext, id: string) => Promise<unknown>> = {
    'writes nothing with its first statement': (ctx, id) =>
      ctx.preparedTransaction((tx) => tx.query(insert(id))),
    'writes nothing with a deferred statement': (ctx, id) =>
      ctx.preparedTransaction((tx) => tx.defer(insert(id))),
    'is not admitted by work without statements': (ctx) => ctx.preparedTransaction(async () => undefined),
    'learns nothing from a statement that fails': (ctx) => ctx.preparedTransaction((tx) => tx.query(fail)),
    'finds no row': (ctx) =>
      ctx.preparedTransaction(async (tx) => {
        throw new Error(`found ${(await tx.query(sql`select id from carriers`)).length}`);
      }),
  };

  test.each(Object.entries(WRITES))('%s', async (_name, write) => {
    const [ctx, id] = [refused(), newId()];
    await expect(write(ctx, id)).rejects.toMatchObject({ code: 'token_invalid' });
    expect([ctx.isAdmitted, await stored(id)]).toEqual([false, 0]);
  });
});

test('a statement after a lock sees what the owner of the lock has committed', async () => {
  const id = newId();
  const lock = sql`select pg_advisory_xact_lock(4712)`;
  const owner = await service.owner.connect();
  await owner.query('begin; select pg_advisory_xact_lock(4712)');
  await owner.query('insert into carriers (tenant_id, id, name) values ($1, $2, $3)', [tenantId, id, id]);
  const found = context().preparedTransaction(async (tx) => {
    await tx.defer(lock);
    return tx.query(find(id));
  });
  await until(async () => {
    const { rows } = await owner.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`,
    );
    return rows[0]?.n === 1;
  });
  await owner.query('commit');
  owner.release();
  expect(await found).toEqual([{ id }]);
});

test('prepares fixed statements by name, and no others', async () => {
  const names = await context().preparedTransaction(async (tx) => {
    await tx.queryAll([once`select 'fixed' as text`, sql`select 'variable' as text`]);
    return tx.query(
      sql`select statement from pg_prepared_statements where statement like 'select ''% as text'`,
    );
  });
  expect(names).toEqual([{ statement: "select 'fixed' as text" }]);
});

describe('fixed statements are planned for all values, and others with their own', () => {
  const GENERIC = { mode: 'force_generic_plan' };
  const CUSTOM = { mode: 'auto' };
  type Mode = { mode: string };
  const fixed = () => once<Mode>`select current_setting('plan_cache_mode') as mode where ${1}::int = 1`;
  const other = () => sql<Mode>`select current_setting('plan_cache_mode') as mode where ${1}::int = 1`;
  const withoutValues = () => sql<Mode>`select current_setting('plan_cache_mode') as mode`;

  const WAYS: Record<string, (statements: Sql<Mode>[]) => Promise<Mode[][]>> = {
    read: (statements) => context().read(statements),
    pipeline: (statements) => context().pipeline(statements),
    'one flush of a transaction': (statements) =>
      context().preparedTransaction((tx) => tx.queryAll(statements)),
    'a transaction, one by one': (statements) =>
      context().preparedTransaction(async (tx) => {
        const rows: Mode[][] = [];
        for (const statement of statements) rows.push(await tx.query(statement));
        return rows;
      }),
  };

  test.each(Object.entries(WAYS))('in %s, in any order', async (_name, run) => {
    expect(await run([fixed(), other(), other(), fixed()])).toEqual([
      [GENERIC],
      [CUSTOM],
      [CUSTOM],
      [GENERIC],
    ]);
    expect(await run([other(), fixed(), other()])).toEqual([[CUSTOM], [GENERIC], [CUSTOM]]);
    // A statement without values has one plan, so nothing changes for it.
    expect(await run([fixed(), withoutValues(), other(), withoutValues()])).toEqual([
      [GENERIC],
      [GENERIC],
      [CUSTOM],
      [CUSTOM],
    ]);
  });

  test('after deferred statements, which keep their own kind', async () => {
    const rows = await context().preparedTransaction(async (tx) => {
      await tx.defer(other());
      await tx.defer(fixed());
      return tx.queryAll([other(), fixed()]);
    });
    expect(rows).toEqual([[CUSTOM], [GENERIC]]);
  });

  test('and the setting ends with the transaction', async () => {
    await context().read([fixed()]);
    expect((await service.db.pool.query('show plan_cache_mode')).rows).toEqual([{ plan_cache_mode: 'auto' }]);
  });
});
