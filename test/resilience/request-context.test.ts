import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { audit } from '../../src/platform/audit/audit.js';
import { makeContext, type RequestContext } from '../../src/platform/context/request-context.js';
import type { OpenTransaction } from '../../src/platform/db/transactions/open-transaction.js';
import { sql, type Sql } from '../../src/platform/db/statements.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { newId } from '../../src/platform/values/ids.js';
import { startService, type Service } from '../support/service/service.js';

let service: Service;
const caller = { kind: 'system' as const, tenantId: DEMO.tenants.demo };

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

const context = () => makeContext(service.db, caller, 'a-request');

const insert = (id: string, name: string): Sql<{ id: string }> =>
  sql`insert into carriers (tenant_id, id, name) values (${caller.tenantId}::uuid, ${id}::uuid, ${name}) returning id`;

type Write = (ctx: RequestContext, id: string) => Promise<unknown>;

/** Every way to write. Each stores a carrier. */
const WRITERS: Record<string, Write> = {
  'write in steps': (ctx, id) => ctx.write((tx) => tx.count(insert(id, id))),
  'write with models': (ctx, id) =>
    ctx.write((tx) => tx.models.carrier.create({ data: { id, name: id, tenantId: ctx.tenantId } })),
  'write with a deferred statement': (ctx, id) => ctx.write(async (tx) => tx.later(insert(id, id))),
  'write with a timeout': (ctx, id) => ctx.write((tx) => tx.count(insert(id, id)), { timeoutMs: 5_000 }),
  'write in one round trip': (ctx, id) => ctx.write([insert(id, id)]),
};

/** Every way to open a transaction. */
const OPENERS: Record<string, Write> = {
  ...WRITERS,
  read: (ctx) => ctx.read([sql`select 1`]),
  'read in steps': (ctx) => ctx.read(() => Promise.resolve(), { timeoutMs: 5_000 }),
  'read of a report': (ctx) => ctx.read([sql`select 1`], { from: 'replica' }),
  'a kept write in steps': (ctx, id) => ctx.write((tx) => tx.count(insert(id, id)), { keptIfRefused: true }),
  'a kept write in one round trip': (ctx, id) => ctx.write([insert(id, id)], { keptIfRefused: true }),
  'read in the scope of the tenant': (ctx) => ctx.asTenant().read([sql`select 1`]),
  'write in the scope of the tenant': (ctx, id) => ctx.asTenant().write([insert(id, id)]),
};

async function countStored(...ids: string[]): Promise<number> {
  const { rows } = await service.owner.query<{ n: number }>(
    'select count(*)::int as n from carriers where id = any($1)',
    [ids],
  );
  return rows[0]?.n ?? 0;
}

describe.each(Object.entries(WRITERS))('after a %s', (_name, write) => {
  test.each(Object.entries(OPENERS))('%s throws', async (_opener, open) => {
    const ctx = context();
    const [id, other] = [newId(), newId()];
    await write(ctx, id);
    await expect(open(ctx, other)).rejects.toThrow('after the writing transaction');
    expect(await countStored(id, other)).toBe(1);
  });

  test('a failed transaction leaves nothing, so the request may write again', async () => {
    const ctx = context();
    const id = newId();
    await expect(write(ctx, 'no uuid')).rejects.toThrow(/uuid/i);
    await write(ctx, id);
    expect(await countStored(id)).toBe(1);
  });

  test('reads before it are allowed', async () => {
    const ctx = context();
    const id = newId();
    const [[row]] = await ctx.read([sql<{ one: number }>`select 1 as one`]);
    expect(row?.one).toBe(1);
    await ctx.read((tx) => tx.query(sql`select 1`), { timeoutMs: 5_000 });
    await write(ctx, id);
    expect(await countStored(id)).toBe(1);
  });
});

const INSIDE: Record<string, (ctx: RequestContext, work: () => Promise<unknown>) => Promise<unknown>> = {
  write: (ctx, work) => ctx.write(work),
  'a write with a timeout': (ctx, work) => ctx.write(work, { timeoutMs: 5_000 }),
  'read in steps': (ctx, work) => ctx.read(work, { timeoutMs: 5_000 }),
  'a kept write': (ctx, work) => ctx.write(work, { keptIfRefused: true }),
};

describe.each(Object.entries(INSIDE))('inside %s', (_name, inside) => {
  test.each(Object.entries(OPENERS))('%s throws, and nothing is stored', async (_opener, open) => {
    const ctx = context();
    const id = newId();
    await expect(inside(ctx, () => open(ctx, id))).rejects.toThrow('inside another');
    expect(await countStored(id)).toBe(0);
  });
});

test('rows of a kept write remain when the request is rejected afterwards', async () => {
  const ctx = context();
  const [kept, undone] = [newId(), newId()];
  await ctx.write([insert(kept, kept)], { keptIfRefused: true });
  await ctx.write(async () => undefined, { keptIfRefused: true });
  const refused = ctx.write(async (tx) => {
    await tx.count(insert(undone, undone));
    throw new Error('refused');
  });
  await expect(refused).rejects.toThrow('refused');
  expect([await countStored(kept), await countStored(undone)]).toEqual([1, 0]);
});

test('a transaction takes no statement after its end', async () => {
  const id = newId();
  const ended = await context().write(async (tx) => tx);
  await expect(ended.query(insert(id, id))).rejects.toThrow('The transaction has ended.');
  expect(await countStored(id)).toBe(0);
});

describe('a request with an Idempotency-Key', () => {
  /** Runs work whose writing transaction is held, as the router does, and commits a second carrier in it. */
  async function keyed(
    beside: string,
    work: (ctx: RequestContext, held: () => OpenTransaction | undefined) => Promise<unknown>,
  ): Promise<void> {
    const ctx = context();
    const hold = ctx.holdWrite(async (tx) => {
      await tx.query(sql`select 'first'`);
    });
    try {
      await work(ctx, () => hold.transaction);
      await hold.transaction?.tx.query(insert(beside, beside));
      await hold.transaction?.commit();
    } catch (error) {
      await hold.transaction?.rollback(error);
      throw error;
    }
  }

  test.each(Object.entries(WRITERS))('%s commits together with the response', async (_name, write) => {
    const [id, beside] = [newId(), newId()];
    await keyed(beside, async (ctx, held) => {
      expect(held()).toBeUndefined();
      await write(ctx, id);
      expect([held() !== undefined, await countStored(id)]).toEqual([true, 0]);
      for (const open of Object.values(OPENERS))
        await expect(open(ctx, newId())).rejects.toThrow('after the writing transaction');
    });
    expect(await countStored(id, beside)).toBe(2);
  });

  test.each(Object.entries(WRITERS))('%s is undone when the work fails later', async (_name, write) => {
    const [id, beside] = [newId(), newId()];
    const work = keyed(beside, async (ctx) => {
      await write(ctx, id);
      throw new Error('the view failed');
    });
    await expect(work).rejects.toThrow('the view failed');
    expect(await countStored(id, beside)).toBe(0);
  });

  test('a kept write commits at once', async () => {
    const [id, beside] = [newId(), newId()];
    await keyed(beside, async (ctx, held) => {
      await ctx.write([insert(id, id)], { keptIfRefused: true });
      expect([held(), await countStored(id)]).toEqual([undefined, 1]);
    });
    expect(await countStored(id, beside)).toBe(1);
  });

  test('a transaction that ended in a deadlock is retried, and held once', async () => {
    const [id, beside] = [newId(), newId()];
    let attempts = 0;
    await keyed(beside, (ctx) =>
      ctx.write(async (tx) => {
        attempts += 1;
        if (attempts < 3) await tx.count(sql`do $$ begin raise 'again' using errcode = '40P01'; end $$`);
        return tx.count(insert(id, id));
      }),
    );
    expect([attempts, await countStored(id, beside)]).toEqual([3, 2]);
  });
});

describe('the scope of the tenant', () => {
  const IEX = DEMO.users.iex;

  /** A user of a courier, with the token version that the database has, or another one. */
  async function courierContext(versionsBehind = 0) {
    const { rows } = await service.owner.query<{ token_version: number }>(
      'select token_version from users where id = $1',
      [IEX],
    );
    const tokenVersion = (rows[0]?.token_version ?? 0) + versionsBehind;
    const account = { userId: IEX, role: 'courier' as const, courierId: DEMO.couriers.IEX };
    const user = { kind: 'user' as const, tenantId: caller.tenantId, ...account };
    return makeContext(service.db, { ...user, tokenVersion, expiresAt: 4e9 }, 'the-request');
  }

  const countUsers = sql<{ n: number }>`select count(*)::int as n from users`;
  const created = (id: string) => ({ action: 'carrier.created', entity: 'carrier', entityId: id }) as const;

  test('has the rows that the caller itself does not see, and admits it in the same round trip', async () => {
    const ctx = await courierContext();
    const [[own]] = await ctx.read([countUsers]);
    const [[all]] = await ctx.asTenant().read([countUsers]);
    expect(own?.n).toBeLessThan(all?.n ?? 0);
    const other = await courierContext();
    await other.asTenant().read([countUsers]);
    expect(other.isAdmitted).toBe(true);
  });

  test('audit entries name the caller and the request', async () => {
    const id = newId();
    const ctx = await courierContext();
    await ctx.asTenant().write(async (tx) => tx.later(audit(tx, created(id))));
    const { rows } = await service.owner.query<Record<string, unknown>>(
      'select actor_kind, actor_id, request_id from audit_entries where entity_id = $1',
      [id],
    );
    expect(rows).toEqual([{ actor_kind: 'user', actor_id: IEX, request_id: 'the-request' }]);
  });

  const REFUSED: Record<string, Write> = {
    'a read': (ctx) => ctx.asTenant().read([countUsers]),
    'a read in steps': (ctx) => ctx.asTenant().read((tx) => tx.query(countUsers)),
    'a write in one round trip': (ctx, id) => ctx.asTenant().write([insert(id, id)]),
    'a write in steps': (ctx, id) => ctx.asTenant().write((tx) => tx.query(insert(id, id))),
    'a kept write': (ctx, id) => ctx.asTenant().write([insert(id, id)], { keptIfRefused: true }),
  };

  test.each(Object.entries(REFUSED))(
    'refuses %s of a stale token, and nothing is stored',
    async (_name, run) => {
      const id = newId();
      const ctx = await courierContext(-1);
      await expect(run(ctx, id)).rejects.toMatchObject({ code: 'token_invalid', httpStatus: 401 });
      expect([ctx.isAdmitted, await countStored(id)]).toEqual([false, 0]);
    },
  );
});
