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
  type Sql,
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

const insert = (id: string, name: string): Sql<Record<string, unknown>> =>
  sql`insert into carriers (tenant_id, id, name) values (${caller.tenantId}::uuid, ${id}::uuid, ${name})`;

/** The ways in which a unit of work writes; each stores a carrier. */
const WRITERS: Record<string, (id: string) => Promise<unknown>> = {
  transaction: (id) => transaction(service.db, caller, (tx) => tx.execute(insert(id, id))),
  bulkTransaction: (id) => bulkTransaction(service.db, caller, 5_000, (tx) => tx.execute(insert(id, id))),
  pipeline: (id) => pipeline(service.db, caller, [insert(id, id)]),
  preparedPipeline: (id) => preparedPipeline(service.db, caller, [insert(id, id)]),
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
  opening: [sql`select 'opened' as said`],
  assertMayWork: () => undefined,
  closing: () => ({ statement: insert(id, id), assertClosed: () => undefined }),
});

describe.each(Object.entries(WRITERS))('%s', (_name, write) => {
  test('its writes become visible only when the unit of work ends, together with the closing statement', async () => {
    const [id, closingId] = [newId(), newId()];
    const answer = await inUnitOfWork(stepsStoring(closingId), async (hasWritten) => {
      expect(hasWritten()).toBe(false);
      await write(id);
      expect([hasWritten(), await stored(id)]).toEqual([true, 0]);
      return 'done';
    });
    expect([answer, await stored(id, closingId)]).toEqual(['done', 2]);
  });

  test('a unit of work that fails after a write leaves nothing', async () => {
    const [id, closingId] = [newId(), newId()];
    const work = inUnitOfWork(stepsStoring(closingId), async () => {
      await write(id);
      throw new Error('the view failed');
    });
    await expect(work).rejects.toThrow('the view failed');
    expect(await stored(id, closingId)).toBe(0);
  });

  test('a rejected opening or closing statement leaves nothing', async () => {
    const [id, closingId] = [newId(), newId()];
    const seen: Rows[][] = [];
    const refuseOpening: UnitOfWorkSteps<unknown> = {
      ...stepsStoring(closingId),
      assertMayWork(answers) {
        seen.push(answers);
        throw new Error('not now');
      },
    };
    await expect(inUnitOfWork(refuseOpening, () => write(id))).rejects.toThrow('not now');
    expect(seen).toEqual([[[{ said: 'opened' }]]]);
    const refuseClosing: UnitOfWorkSteps<unknown> = {
      ...stepsStoring(closingId),
      closing: () => ({
        statement: insert(closingId, closingId),
        assertClosed() {
          throw new Error('somebody else was first');
        },
      }),
    };
    await expect(inUnitOfWork(refuseClosing, () => write(id))).rejects.toThrow('somebody else was first');
    expect(await stored(id, closingId)).toBe(0);
  });

  test('the unit of work may write again after a failed statement', async () => {
    const [id, closingId] = [newId(), newId()];
    const work = inUnitOfWork(stepsStoring(closingId), async () => {
      await expect(write('no uuid')).rejects.toThrow();
      await write(id);
    });
    await work;
    expect(await stored(id, closingId)).toBe(2);
  });

  test('a second transaction, or a read that could not see the first, throws', async () => {
    const [id, other, closingId] = [newId(), newId(), newId()];
    const message = 'A transaction was opened while another waits to be committed.';
    for (const second of [() => write(other), () => snapshot(service.db, caller, [])]) {
      const work = inUnitOfWork(stepsStoring(closingId), async () => {
        await write(id);
        await second();
      });
      await expect(work).rejects.toThrow(message);
    }
    expect(await stored(id, other, closingId)).toBe(0);
  });
});

test('a unit of work that only reads executes no opening and no closing statement', async () => {
  const closingId = newId();
  const steps: UnitOfWorkSteps<unknown> = {
    ...stepsStoring(closingId),
    assertMayWork() {
      throw new Error('asked');
    },
  };
  const rows = await inUnitOfWork(steps, () => snapshot(service.db, caller, [sql`select 1 as one`]));
  expect([rows, await stored(closingId)]).toEqual([[[{ one: 1 }]], 0]);
});

test('a unit of work with a deadlock is retried and closed once', async () => {
  const [id, closingId] = [newId(), newId()];
  let attempts = 0;
  await inUnitOfWork(stepsStoring(closingId), () =>
    transaction(service.db, caller, async (tx) => {
      attempts += 1;
      if (attempts < 3) await tx.execute(sql`do $$ begin raise 'again' using errcode = '40P01'; end $$`);
      return tx.execute(insert(id, id));
    }),
  );
  expect([attempts, await stored(id, closingId)]).toEqual([3, 2]);
});
