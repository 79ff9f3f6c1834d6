import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { inUnitOfWork, type UnitOfWorkSteps } from '../../src/platform/db/unit-of-work.js';
import {
  pipeline,
  preparedPipeline,
  bulkTransaction,
  transaction,
  snapshot,
  sql,
  type Rows,
} from '../../src/platform/db/transaction.js';
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

const insert = (id: string, name: string) =>
  sql`insert into carriers (tenant_id, id, name) values (${caller.tenantId}::uuid, ${id}::uuid, ${name})`;

/** Stores a carrier in each of the ways in which work writes. */
const WRITERS: Record<string, (id: string) => Promise<unknown>> = {
  inScope: (id) => transaction(service.db, caller, (tx) => tx.execute(insert(id, id))),
  inLargeScope: (id) => bulkTransaction(service.db, caller, 5_000, (tx) => tx.execute(insert(id, id))),
  flushInScope: (id) => pipeline(service.db, caller, [insert(id, id)]),
  flushPrepared: (id) => preparedPipeline(service.db, caller, [insert(id, id)]),
};

async function stored(...ids: string[]): Promise<number> {
  const { rows } = await service.owner.query<{ n: number }>(
    'select count(*)::int as n from carriers where id = any($1)',
    [ids],
  );
  return rows[0]?.n ?? 0;
}

/** Stores a carrier beside the work's. */
const beside = (id: string): UnitOfWorkSteps<unknown> => ({
  opening: [sql`select 'opened' as said`],
  assertMayWork: () => undefined,
  closing: () => ({ statement: insert(id, id), assertClosed: () => undefined }),
});

describe.each(Object.entries(WRITERS))('%s', (_name, write) => {
  test('what it wrote is seen by others only when the whole work has ended, together with the closing', async () => {
    const [id, besides] = [newId(), newId()];
    const answer = await inUnitOfWork(beside(besides), async (hasWritten) => {
      expect(hasWritten()).toBe(false);
      await write(id);
      expect([hasWritten(), await stored(id)]).toEqual([true, 0]);
      return 'done';
    });
    expect([answer, await stored(id, besides)]).toEqual(['done', 2]);
  });

  test('work that fails after it has written leaves nothing', async () => {
    const [id, besides] = [newId(), newId()];
    const work = inUnitOfWork(beside(besides), async () => {
      await write(id);
      throw new Error('the view failed');
    });
    await expect(work).rejects.toThrow('the view failed');
    expect(await stored(id, besides)).toBe(0);
  });

  test('an opening or a closing that is refused leaves nothing', async () => {
    const [id, besides] = [newId(), newId()];
    const seen: Rows[][] = [];
    const refuseOpening: UnitOfWorkSteps<unknown> = {
      ...beside(besides),
      assertMayWork(answers) {
        seen.push(answers);
        throw new Error('not now');
      },
    };
    await expect(inUnitOfWork(refuseOpening, () => write(id))).rejects.toThrow('not now');
    expect(seen).toEqual([[[{ said: 'opened' }]]]);
    const refuseClosing: UnitOfWorkSteps<unknown> = {
      ...beside(besides),
      closing: () => ({
        statement: insert(besides, besides),
        assertClosed() {
          throw new Error('somebody else was first');
        },
      }),
    };
    await expect(inUnitOfWork(refuseClosing, () => write(id))).rejects.toThrow('somebody else was first');
    expect(await stored(id, besides)).toBe(0);
  });

  test('the database refuses its statement: the error comes out, and the work may write again', async () => {
    const [id, besides] = [newId(), newId()];
    const work = inUnitOfWork(beside(besides), async () => {
      await expect(write('no uuid')).rejects.toThrow();
      await write(id);
    });
    await work;
    expect(await stored(id, besides)).toBe(2);
  });

  test('a second transaction, and a read that could not see the first, throw', async () => {
    const [id, other, besides] = [newId(), newId(), newId()];
    const message = 'A transaction was opened while another waits to be committed.';
    for (const second of [() => write(other), () => snapshot(service.db, caller, [])]) {
      const work = inUnitOfWork(beside(besides), async () => {
        await write(id);
        await second();
      });
      await expect(work).rejects.toThrow(message);
    }
    expect(await stored(id, other, besides)).toBe(0);
  });
});

test('work that only reads is left alone: no opening, no closing', async () => {
  const besides = newId();
  const bracket: UnitOfWorkSteps<unknown> = {
    ...beside(besides),
    assertMayWork() {
      throw new Error('asked');
    },
  };
  const rows = await inUnitOfWork(bracket, () => snapshot(service.db, caller, [sql`select 1 as one`]));
  expect([rows, await stored(besides)]).toEqual([[[{ one: 1 }]], 0]);
});

test('work that a deadlock broke is done again inside, and closed once', async () => {
  const [id, besides] = [newId(), newId()];
  let attempts = 0;
  await inUnitOfWork(beside(besides), () =>
    transaction(service.db, caller, async (tx) => {
      attempts += 1;
      if (attempts < 3) await tx.execute(sql`do $$ begin raise 'again' using errcode = '40P01'; end $$`);
      return tx.execute(insert(id, id));
    }),
  );
  expect([attempts, await stored(id, besides)]).toEqual([3, 2]);
});
