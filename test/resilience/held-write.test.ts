import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeContext, type RequestContext } from '../../src/platform/context/request-context.js';
import type { Hold } from '../../src/platform/context/request-state.js';
import { sql, type Sql } from '../../src/platform/db/statements.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { newId } from '../../src/platform/values/ids.js';
import { until } from '../support/service/processes.js';
import { startService, type Service } from '../support/service/service.js';

// The transaction of a request with an Idempotency-Key stays open until its response is stored in it.

let service: Service;
const caller = { kind: 'system' as const, tenantId: DEMO.tenants.demo };

beforeAll(async () => {
  // Its connections are counted.
  service = await startService({ poolSize: 4 });
});

afterAll(async () => {
  await service.stop();
});

const insert = (id: string): Sql =>
  sql`insert into carriers (tenant_id, id, name) values (${caller.tenantId}::uuid, ${id}::uuid, ${id})`;

async function stored(...ids: string[]): Promise<number> {
  const { rows } = await service.owner.query<{ n: number }>(
    'select count(*)::int as n from carriers where id = any($1)',
    [ids],
  );
  return rows[0]?.n ?? 0;
}

function heldContext(first: Hold['first'] = async () => undefined): { ctx: RequestContext; hold: Hold } {
  const ctx = makeContext(service.db, caller, 'a-request');
  return { ctx, hold: ctx.holdWrite(first) };
}

/** Returns the held transaction. */
function transactionOf({ transaction }: Hold) {
  if (!transaction) throw new Error('No transaction is held.');
  return transaction;
}

test('a write returns its result before it commits', async () => {
  const { ctx, hold } = heldContext();
  const id = newId();
  expect(await ctx.write((tx) => tx.count(insert(id)))).toBe(1);
  expect(await stored(id)).toBe(0);
  await transactionOf(hold).commit();
  expect(await stored(id)).toBe(1);
});

test('the first step runs before the work, in the same transaction, once per attempt', async () => {
  const id = newId();
  let attempts = 0;
  const { ctx, hold } = heldContext(async (tx) => {
    attempts += 1;
    await tx.count(insert(id));
  });
  const seen = await ctx.write(async (tx) => {
    if (attempts < 3) await tx.count(sql`do $$ begin raise 'again' using errcode = '40P01'; end $$`);
    return tx.query(sql`select count(*)::int as n from carriers where id = ${id}::uuid`);
  });
  expect([attempts, seen]).toEqual([3, [{ n: 1 }]]);
  await transactionOf(hold).rollback(new Error('the response was not stored'));
  expect(await stored(id)).toBe(0);
});

test('a first step that throws leaves nothing, and holds nothing', async () => {
  const id = newId();
  const { ctx, hold } = heldContext(async (tx) => {
    await tx.count(insert(id));
    throw new Error('not now');
  });
  await expect(ctx.write([insert(newId())])).rejects.toThrow('not now');
  expect([hold.transaction, await stored(id)]).toEqual([undefined, 0]);
});

test('a request that only reads holds nothing, and runs no first step', async () => {
  const { ctx, hold } = heldContext(() => Promise.reject(new Error('A step ran.')));
  expect(await ctx.read([sql`select 1 as one`])).toEqual([[{ one: 1 }]]);
  expect(await ctx.read((tx) => tx.query(sql`select 1 as one`))).toEqual([{ one: 1 }]);
  expect(hold.transaction).toBeUndefined();
});

test('the work may write again after a failed statement', async () => {
  const { ctx, hold } = heldContext();
  const id = newId();
  await expect(ctx.write((tx) => tx.count(sql`select 1 / 0`))).rejects.toMatchObject({ code: '22012' });
  await ctx.write((tx) => tx.count(insert(id)));
  await transactionOf(hold).commit();
  expect(await stored(id)).toBe(1);
});

test('a commit that fails is rolled back, and its connection can be used again', async () => {
  const { ctx, hold } = heldContext();
  const id = newId();
  await ctx.write((tx) => tx.count(insert(id)));
  const transaction = transactionOf(hold);
  transaction.tx.later(sql`select 1 / 0`);
  const failure = await transaction.commit().catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: '22012' });
  await transaction.rollback(failure);
  expect(await stored(id)).toBe(0);
});

describe('the connection of a held transaction', () => {
  test.each(['commit', 'rollback'] as const)('is given back by its %s, with the share', async (end) => {
    // More than the pool has.
    for (let n = 0; n < 6; n += 1) {
      const { ctx, hold } = heldContext();
      await ctx.write([insert(newId())]);
      if (end === 'commit') await transactionOf(hold).commit();
      else await transactionOf(hold).rollback(new Error('refused'));
    }
    // The service's own checks may use one for a moment.
    await until(() => Promise.resolve(service.db.pool.idleCount === service.db.pool.totalCount));
    expect(service.db.pool.waitingCount).toBe(0);
  });
});
