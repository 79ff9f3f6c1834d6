import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeContext, type RequestContext } from '../../src/platform/context/request-context.js';
import { inUnitOfWork, type UnitOfWorkSteps } from '../../src/platform/db/transactions/unit-of-work.js';
import { sql, type Sql } from '../../src/platform/db/statements.js';
import { DEMO } from '../../src/development/demo/seed.js';
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
  transaction: (ctx, id) => ctx.transaction((tx) => tx.execute(insert(id, id))),
  'transaction with models': (ctx, id) =>
    ctx.transaction((tx) => tx.models.carrier.create({ data: { id, name: id, tenantId: ctx.tenantId } })),
  preparedTransaction: (ctx, id) => ctx.preparedTransaction((tx) => tx.execute(insert(id, id))),
  'deferred statement': (ctx, id) => ctx.preparedTransaction((tx) => tx.defer(insert(id, id))),
  bulkTransaction: (ctx, id) => ctx.bulkTransaction(5_000, (tx) => tx.execute(insert(id, id))),
  pipeline: (ctx, id) => ctx.pipeline([insert(id, id)]),
};

/** Every way to open a transaction. */
const OPENERS: Record<string, Write> = {
  ...WRITERS,
  read: (ctx) => ctx.read([sql`select 1`]),
  'read in steps': (ctx) => ctx.read(() => Promise.resolve(), { timeoutMs: 5_000 }),
  'independent transaction': (ctx, id) => ctx.independent().transaction((tx) => tx.execute(insert(id, id))),
  'read in the scope of the system': (ctx) => ctx.asSystem().read([sql`select 1`]),
};

async function countStored(...ids: string[]): Promise<number> {
  const { rows } = await service.owner.query<{ n: number }>(
    'select count(*)::int as n from carriers where id = any($1)',
    [ids],
  );
  return rows[0]?.n ?? 0;
}

describe.each(Object.entries(WRITERS))('after %s', (_name, write) => {
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
  transaction: (ctx, work) => ctx.transaction(work),
  preparedTransaction: (ctx, work) => ctx.preparedTransaction(work),
  bulkTransaction: (ctx, work) => ctx.bulkTransaction(5_000, work),
  'read in steps': (ctx, work) => ctx.read(work, { timeoutMs: 5_000 }),
  'an independent transaction': (ctx, work) => ctx.independent().transaction(work),
};

describe.each(Object.entries(INSIDE))('inside %s', (_name, inside) => {
  test.each(Object.entries(OPENERS))('%s throws, and nothing is stored', async (_opener, open) => {
    const ctx = context();
    const id = newId();
    await expect(inside(ctx, () => open(ctx, id))).rejects.toThrow('inside another');
    expect(await countStored(id)).toBe(0);
  });
});

test('rows of an independent transaction remain when the request is rejected afterwards', async () => {
  const ctx = context();
  const [kept, undone] = [newId(), newId()];
  await ctx.independent().pipeline([insert(kept, kept)]);
  await ctx.independent().transaction(async () => undefined);
  const refused = ctx.transaction(async (tx) => {
    await tx.execute(insert(undone, undone));
    throw new Error('refused');
  });
  await expect(refused).rejects.toThrow('refused');
  expect([await countStored(kept), await countStored(undone)]).toEqual([1, 0]);
});

describe('a request with an Idempotency-Key', () => {
  const stepsBeside = (id: string): UnitOfWorkSteps<unknown> => ({
    async open(tx) {
      await tx.query(sql`select 'opened' as said`);
    },
    async close(tx) {
      await tx.query(insert(id, id));
    },
  });
  const keyed = (id: string, work: (ctx: RequestContext, hasWritten: () => boolean) => Promise<unknown>) => {
    const ctx = context();
    return inUnitOfWork(
      stepsBeside(id),
      (hasWritten) => work(ctx, hasWritten),
      (unit) => ctx.attachUnitOfWork(unit),
    );
  };

  test.each(Object.entries(WRITERS))('%s commits together with the last step', async (_name, write) => {
    const [id, beside] = [newId(), newId()];
    await keyed(beside, async (ctx, hasWritten) => {
      expect(hasWritten()).toBe(false);
      await write(ctx, id);
      expect([hasWritten(), await countStored(id)]).toEqual([true, 0]);
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

  test('a transaction that ended in a deadlock is retried, and its last step runs once', async () => {
    const [id, beside] = [newId(), newId()];
    let attempts = 0;
    await keyed(beside, (ctx) =>
      ctx.transaction(async (tx) => {
        attempts += 1;
        if (attempts < 3) await tx.execute(sql`do $$ begin raise 'again' using errcode = '40P01'; end $$`);
        return tx.execute(insert(id, id));
      }),
    );
    expect([attempts, await countStored(id, beside)]).toEqual([3, 2]);
  });
});

test('audit entries name the caller and the request, in the scope of the system too', async () => {
  const [id, userId] = [newId(), newId()];
  const user = { kind: 'user' as const, tenantId: caller.tenantId, userId, role: 'admin' as const };
  const ctx = makeContext(
    service.db,
    { ...user, courierId: null, tokenVersion: 1, expiresAt: 4e9 },
    'the-request',
  );
  await ctx
    .asSystem()
    .transaction((tx) => tx.audit({ action: 'carrier.created', entity: 'carrier', entityId: id }));
  const { rows } = await service.owner.query<Record<string, unknown>>(
    'select actor_kind, actor_id, request_id from audit_entries where entity_id = $1',
    [id],
  );
  expect(rows).toEqual([{ actor_kind: 'user', actor_id: userId, request_id: 'the-request' }]);
  // The user does not exist, and the system scope does not check that.
  expect(ctx.isAdmitted).toBe(false);
  const later = makeContext(service.db, ctx.caller, 'another-request');
  await expect(later.read([])).rejects.toMatchObject({ httpStatus: 401 });
});
