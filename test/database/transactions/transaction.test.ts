import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeContext, type RequestContext } from '../../../src/platform/context/request-context.js';
import { once, sql, type Sql } from '../../../src/platform/db/statements.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newId } from '../../../src/platform/values/ids.js';
import { until } from '../../support/service/processes.js';
import { startService, type Service } from '../../support/service/service.js';

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
    const rows = await context().write(async (tx) => {
      tx.later(insert(first));
      tx.later(insert(second));
      return tx.query([find(first), find(second), find(newId())]);
    });
    expect(rows).toEqual([[{ id: first }], [{ id: second }], []]);
  });

  test('is committed if no statement follows', async () => {
    const id = newId();
    await context().write(async (tx) => tx.later(insert(id)));
    expect(await stored(id)).toBe(1);
  });

  test('that fails rejects the next statement, or the transaction, and nothing is stored', async () => {
    const id = newId();
    const next = context().write(async (tx) => {
      tx.later(insert(id));
      tx.later(fail);
      await expect(tx.query(find(id))).rejects.toMatchObject({ code: '22012' });
      throw new Error('the statement was rejected');
    });
    await expect(next).rejects.toThrow('the statement was rejected');
    const atEnd = context().write(async (tx) => {
      await tx.count(insert(id));
      tx.later(fail);
    });
    await expect(atEnd).rejects.toMatchObject({ code: '22012' });
    expect(await stored(id)).toBe(0);
  });

  test('is not sent when the work fails', async () => {
    const id = newId();
    const work = context().write(async (tx) => {
      await tx.count(insert(id));
      tx.later(insert(id));
      throw new Error('refused');
    });
    await expect(work).rejects.toThrow('refused');
    expect(await stored(id)).toBe(0);
  });

  test('that ends in a deadlock at the commit is retried', async () => {
    const id = newId();
    let attempts = 0;
    await context().write(async (tx) => {
      attempts += 1;
      await tx.count(insert(id));
      if (attempts < 3) tx.later(sql`do $$ begin raise 'again' using errcode = '40P01'; end $$`);
    });
    expect([attempts, await stored(id)]).toEqual([3, 1]);
  });

  test('that fails in a held transaction fails the write, so the handler can translate its error', async () => {
    const id = newId();
    const ctx = context();
    const hold = ctx.holdWrite(async () => undefined);
    const written = ctx.write(async (tx) => {
      await tx.count(insert(id));
      tx.later(fail);
    });
    await expect(written).rejects.toMatchObject({ code: '22012' });
    expect(hold.transaction).toBeUndefined();
    expect(await stored(id)).toBe(0);
  });
});

test('work that goes on after the error of a statement is refused at the commit: PostgreSQL would only roll back', async () => {
  const id = newId();
  const work = context().write(async (tx) => {
    await tx.count(insert(id));
    await tx.query(fail).catch(() => undefined);
  });
  await expect(work).rejects.toThrow('Nothing was stored');
  expect(await stored(id)).toBe(0);
  // Its connection is used again.
  await context().write([insert(id)]);
  expect(await stored(id)).toBe(1);
});

describe('a caller that the database refuses', () => {
  const WRITES: Record<string, (ctx: RequestContext, id: string) => Promise<unknown>> = {
    'writes nothing with its first statement': (ctx, id) => ctx.write((tx) => tx.query(insert(id))),
    'writes nothing with a deferred statement': (ctx, id) => ctx.write(async (tx) => tx.later(insert(id))),
    'is not admitted by work without statements': (ctx) => ctx.write(async () => undefined),
    'learns nothing from a statement that fails': (ctx) => ctx.write((tx) => tx.query(fail)),
    'finds no row': (ctx) =>
      ctx.write(async (tx) => {
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
  const found = context().write(async (tx) => {
    tx.later(lock);
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
  const names = await context().write(async (tx) => {
    await tx.query([once`select 'fixed' as text`, sql`select 'variable' as text`]);
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
    'a write in one round trip': (statements) => context().write(statements),
    'one query of a transaction': (statements) => context().write((tx) => tx.query(statements)),
    'a transaction, one by one': (statements) =>
      context().write(async (tx) => {
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
    const rows = await context().write(async (tx) => {
      tx.later(other());
      tx.later(fixed());
      return tx.query([other(), fixed()]);
    });
    expect(rows).toEqual([[CUSTOM], [GENERIC]]);
  });

  test('after a rollback to a savepoint, which restores the setting', async () => {
    const rows = await context().write(async (tx) => {
      await tx.query(fixed());
      tx.later(sql`savepoint here`);
      await tx.query(other());
      tx.later(sql`rollback to savepoint here`);
      return tx.query([other(), fixed()]);
    });
    expect(rows).toEqual([[CUSTOM], [GENERIC]]);
  });

  test('and the setting ends with the transaction', async () => {
    await context().read([fixed()]);
    expect((await service.db.pool.query('show plan_cache_mode')).rows).toEqual([{ plan_cache_mode: 'auto' }]);
  });
});
