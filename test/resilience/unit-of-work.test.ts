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

const insert = (id: string, name: string): Sql =>
  sql`insert into carriers (tenant_id, id, name) values (${caller.tenantId}::uuid, ${id}::uuid, ${name})`;

/** The ways in which a unit of work writes; each stores a carrier. */
const WRITERS: Record<string, (ctx: RequestContext, id: string) => Promise<unknown>> = {
  transaction: (ctx, id) => ctx.transaction((tx) => tx.execute(insert(id, id))),
  preparedTransaction: (ctx, id) => ctx.preparedTransaction((tx) => tx.execute(insert(id, id))),
  'deferred statement': (ctx, id) => ctx.preparedTransaction((tx) => tx.defer(insert(id, id))),
  bulkTransaction: (ctx, id) => ctx.bulkTransaction(5_000, (tx) => tx.execute(insert(id, id))),
  pipeline: (ctx, id) => ctx.pipeline([insert(id, id)]),
};

async function stored(...ids: string[]): Promise<number> {
  const { rows } = await service.owner.query<{ n: number }>(
    'select count(*)::int as n from carriers where id = any($1)',
    [ids],
  );
  return rows[0]?.n ?? 0;
}

/** Makes steps that store another carrier when the unit of work ends. */
const stepsStoring = (id: string): UnitOfWorkSteps<unknown> => ({
  async open(tx) {
    await tx.query(sql`select 'opened' as said`);
  },
  async close(tx) {
    await tx.query(insert(id, id));
  },
});

/** Runs work with a context that the unit of work is attached to. */
function run<Result>(
  steps: UnitOfWorkSteps<unknown>,
  work: (ctx: RequestContext, hasWritten: () => boolean) => Promise<Result>,
): Promise<Result> {
  const ctx = makeContext(service.db, caller, 'a-request');
  return inUnitOfWork<Result>(
    steps,
    (hasWritten) => work(ctx, hasWritten),
    (unit) => ctx.attachUnitOfWork(unit),
  );
}

describe.each(Object.entries(WRITERS))('%s', (_name, write) => {
  test('its writes become visible only when the unit of work ends, together with the last step', async () => {
    const [id, closingId] = [newId(), newId()];
    const result = await run(stepsStoring(closingId), async (ctx, hasWritten) => {
      expect(hasWritten()).toBe(false);
      await write(ctx, id);
      expect([hasWritten(), await stored(id)]).toEqual([true, 0]);
      return 'done';
    });
    expect([result, await stored(id, closingId)]).toEqual(['done', 2]);
  });

  test('a unit of work that fails after a write leaves nothing', async () => {
    const [id, closingId] = [newId(), newId()];
    const work = run(stepsStoring(closingId), async (ctx) => {
      await write(ctx, id);
      throw new Error('the view failed');
    });
    await expect(work).rejects.toThrow('the view failed');
    expect(await stored(id, closingId)).toBe(0);
  });

  test('a first or last step that throws leaves nothing', async () => {
    const [id, closingId] = [newId(), newId()];
    const seen: unknown[] = [];
    const refuseOpening: UnitOfWorkSteps<unknown> = {
      ...stepsStoring(closingId),
      async open(tx) {
        seen.push(await tx.query(sql`select 'opened' as said`));
        throw new Error('not now');
      },
    };
    await expect(run(refuseOpening, (ctx) => write(ctx, id))).rejects.toThrow('not now');
    expect(seen).toEqual([[{ said: 'opened' }]]);
    const refuseClosing: UnitOfWorkSteps<unknown> = {
      ...stepsStoring(closingId),
      async close(tx) {
        await tx.query(insert(closingId, closingId));
        throw new Error('somebody else was first');
      },
    };
    await expect(run(refuseClosing, (ctx) => write(ctx, id))).rejects.toThrow('somebody else was first');
    expect(await stored(id, closingId)).toBe(0);
  });

  test('the last step gets the result of the work', async () => {
    const [id, closingId] = [newId(), newId()];
    const results: unknown[] = [];
    const steps: UnitOfWorkSteps<unknown> = {
      ...stepsStoring(closingId),
      close: async (_tx, result) => void results.push(result),
    };
    await run(steps, async (ctx) => {
      await write(ctx, id);
      return 'done';
    });
    expect(results).toEqual(['done']);
  });

  test('the unit of work may write again after a failed statement', async () => {
    const [id, closingId] = [newId(), newId()];
    await run(stepsStoring(closingId), async (ctx) => {
      await expect(write(ctx, 'no uuid')).rejects.toThrow(/uuid/i);
      await write(ctx, id);
    });
    expect(await stored(id, closingId)).toBe(2);
  });

  test('a second transaction, or a read that could not see the first, throws', async () => {
    const [id, other, closingId] = [newId(), newId(), newId()];
    const message = 'A transaction was opened after the writing transaction of the request.';
    const seconds: ((ctx: RequestContext) => Promise<unknown>)[] = [
      (ctx) => write(ctx, other),
      (ctx) => ctx.read([]),
    ];
    for (const second of seconds) {
      const work = run(stepsStoring(closingId), async (ctx) => {
        await write(ctx, id);
        await second(ctx);
      });
      await expect(work).rejects.toThrow(message);
    }
    expect(await stored(id, other, closingId)).toBe(0);
  });
});

test('a unit of work that only reads runs neither the first nor the last step', async () => {
  const fail = () => Promise.reject(new Error('A step ran.'));
  const rows = await run({ open: fail, close: fail }, (ctx) => ctx.read([sql`select 1 as one`]));
  expect(rows).toEqual([[{ one: 1 }]]);
});

test('a unit of work that ended in a deadlock is retried, and its last step runs once', async () => {
  const [id, closingId] = [newId(), newId()];
  let attempts = 0;
  await run(stepsStoring(closingId), (ctx) =>
    ctx.transaction(async (tx) => {
      attempts += 1;
      if (attempts < 3) await tx.execute(sql`do $$ begin raise 'again' using errcode = '40P01'; end $$`);
      return tx.execute(insert(id, id));
    }),
  );
  expect([attempts, await stored(id, closingId)]).toEqual([3, 2]);
});
