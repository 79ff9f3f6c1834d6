import { audit } from '../../../src/platform/audit/audit.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeContext, type RequestContext } from '../../../src/platform/context/request-context.js';
import {
  makeModelClients,
  type ModelClients,
  type ModelLease,
} from '../../../src/platform/db/models/model-clients.js';
import { sql } from '../../../src/platform/db/statements.js';
import type { Caller } from '../../../src/platform/identity/callers.js';
import { newId } from '../../../src/platform/values/ids.js';
import { leastSent, startCountingProxy, type CountingProxy } from '../../support/harness/counting-proxy.js';
import { startService, type Service } from '../../support/service/service.js';

// Prisma's models run in the transaction of the context, on its connection.

const tenantId = DEMO.tenants.demo;
const system: Caller = { kind: 'system', tenantId };

let proxy: CountingProxy;
let service: Service;

beforeAll(async () => {
  proxy = await startCountingProxy();
  service = await startService({ through: proxy.through, poolSize: 4 });
});

afterAll(async () => {
  await service.stop();
  await proxy.stop();
});

const context = (caller: Caller = system): RequestContext => makeContext(service.db, caller, 'a-request');

const countCarriers = async (id: string): Promise<number> =>
  (await service.owner.query('select from carriers where id = $1', [id])).rowCount ?? 0;

describe('one call of a model', () => {
  let clients: ModelClients;
  let lease: ModelLease;
  let sent: string[];

  beforeEach(() => {
    clients = makeModelClients();
    sent = [];
    lease = clients.lease({
      applicationFilters: true,
      scope: () => ({ tenantId, courierId: null }),
      admit: () => Promise.resolve(),
      async send(query) {
        sent.push(query.text);
        return service.owner.query({ ...query, rowMode: 'array' });
      },
    });
  });

  afterEach(async () => {
    lease.end();
    await clients.close();
  });

  const carrierOf = (id: string) => ({ id, name: id, tenantId });
  const keyOf = (id: string) => ({ tenantId_id: { tenantId, id } });

  test('sends one statement, whatever the operation', async () => {
    const { carrier } = lease.models;
    const [one, two, three] = [newId(), newId(), newId()];
    const calls: [name: string, call: () => Promise<unknown>][] = [
      ['create', () => carrier.create({ data: carrierOf(one) })],
      ['createMany', () => carrier.createMany({ data: [carrierOf(two), carrierOf(three)] })],
      ['count', () => carrier.count({ where: { id: one } })],
      ['findFirst', () => carrier.findFirst({ where: { id: one } })],
      ['findUnique', () => carrier.findUnique({ where: keyOf(one) })],
      ['findMany', () => carrier.findMany({ where: { id: { in: [one, two] } } })],
      ['update', () => carrier.update({ where: keyOf(one), data: { name: `${one} b` } })],
      ['updateMany', () => carrier.updateMany({ where: { id: one }, data: { name: `${one} c` } })],
      ['deleteMany', () => carrier.deleteMany({ where: { id: { in: [one, two, three] } } })],
    ];
    const statements: [string, number][] = [];
    for (const [name, call] of calls) {
      sent.length = 0;
      await call();
      statements.push([name, sent.length]);
    }
    expect(statements).toEqual(calls.map(([name]) => [name, 1]));
  });

  test('begins no transaction, not even when asked to', async () => {
    // Our type of the models hides it.
    const begin: unknown = Reflect.get(lease.models, '$transaction');
    if (typeof begin !== 'function') throw new Error('Prisma has no $transaction.');
    const work = Reflect.apply(begin, lease.models, [async () => undefined]) as Promise<unknown>;
    await expect(work).rejects.toThrow('begin none');
    expect(sent).toEqual([]);
  });

  test('that outlives its transaction keeps its client from others until it has ended', async () => {
    const started: (() => void)[] = [];
    const ended = makeBarrier(2);
    const slow = clients.lease({
      applicationFilters: true,
      scope: () => ({ tenantId, courierId: null }),
      admit: () => Promise.resolve(),
      async send(query) {
        started.forEach((go) => go());
        await ended();
        return service.owner.query({ ...query, rowMode: 'array' });
      },
    });
    const isSent = new Promise<void>((resolve) => started.push(resolve));
    // Prisma sends a call when it is awaited.
    const late = slow.models.carrier.count().then(String);
    await isSent;
    slow.end();
    const transaction = {
      applicationFilters: true,
      scope: () => ({ tenantId, courierId: null }),
      admit: () => Promise.resolve(),
      send: async () => ({ fields: [], rows: [], rowCount: 0 }),
    };
    clients.lease(transaction);
    expect(clients.size()).toBe(3);
    await ended();
    await late;
    clients.lease(transaction);
    expect(clients.size()).toBe(3);
  });

  test('fails after the transaction has ended', async () => {
    const { models } = lease;
    lease.end();
    await expect(models.carrier.count()).rejects.toThrow('The transaction of these models has ended.');
    expect(sent).toEqual([]);
  });
});

/** Returns a function whose promise resolves once it has been called `count` times. */
function makeBarrier(count: number): () => Promise<void> {
  const waiting: (() => void)[] = [];
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === count) for (const go of waiting) go();
    });
}

describe('models in a transaction', () => {
  test('share its round trips: begin, admission, and the commit with what was deferred', async () => {
    const sent = await leastSent(
      proxy,
      async () => newId(),
      async (id) => {
        await context().write(async (tx) => {
          await tx.models.carrier.create({ data: { id, name: id, tenantId } });
          tx.later(audit(tx, { action: 'carrier.created', entity: 'carrier', entityId: id }));
        });
        expect(await countCarriers(id)).toBe(1);
      },
    );
    expect(sent.roundTrips).toBe(2);
  });

  test('see the rows of SQL, and SQL sees theirs', async () => {
    const [first, second] = [newId(), newId()];
    const seen = await context().write(async (tx) => {
      tx.later(
        sql`insert into carriers (tenant_id, id, name) values (${tenantId}::uuid, ${first}::uuid, ${first})`,
      );
      const found = await tx.models.carrier.findFirst({ where: { id: first }, select: { name: true } });
      await tx.models.carrier.create({ data: { id: second, name: second, tenantId } });
      return [found, ...(await tx.query(sql`select name from carriers where id = ${second}::uuid`))];
    });
    expect(seen).toEqual([{ name: first }, { name: second }]);
  });

  test('are rolled back with it', async () => {
    const id = newId();
    const work = context().write(async (tx) => {
      await tx.models.carrier.create({ data: { id, name: id, tenantId } });
      throw new Error('refused');
    });
    await expect(work).rejects.toThrow('refused');
    expect(await countCarriers(id)).toBe(0);
  });

  test('throw the errors of PostgreSQL as they are', async () => {
    const id = newId();
    const twice = context().write(async (tx) => {
      for (const other of [id, newId()])
        await tx.models.carrier.create({ data: { id: other, name: id, tenantId } });
    });
    await expect(twice).rejects.toMatchObject({ code: '23505', table: 'carriers' });
  });

  test('refuse a caller whom the database does not admit, also as its first statement', async () => {
    const account = {
      userId: newId(),
      role: 'admin',
      courierId: null,
      tokenVersion: 1,
      expiresAt: 4e9,
    } as const;
    const ctx = context({ kind: 'user', tenantId, ...account });
    const sent = await leastSent(
      proxy,
      async () => undefined,
      async () => {
        const counted = ctx.write((tx) => tx.models.carrier.count());
        await expect(counted).rejects.toMatchObject({ code: 'token_invalid', httpStatus: 401 });
      },
    );
    // The statements, and the rollback.
    expect(sent.roundTrips).toBe(2);
  });

  test('of two transactions at the same time do not meet', async () => {
    const ids = [newId(), newId()];
    const [allWrote, allRead] = [makeBarrier(ids.length), makeBarrier(ids.length)];
    await Promise.all(
      ids.map((id) =>
        context().write(async (tx) => {
          await tx.models.carrier.create({ data: { id, name: id, tenantId } });
          await allWrote();
          const seen = await tx.models.carrier.findMany({ where: { id: { in: ids } }, select: { id: true } });
          await allRead();
          expect(seen).toEqual([{ id }]);
        }),
      ),
    );
  });

  test('that a transaction did not wait for do not run in the next one', async () => {
    const late: Promise<unknown>[] = [];
    const ids = [newId(), newId(), newId()];
    await context().write(async (tx) => {
      await tx.models.carrier.count();
      for (const id of ids.slice(0, 2))
        late.push(
          tx.models.carrier.create({ data: { id, name: id, tenantId } }).then(() => 'stored', String),
        );
    });
    const other = ids[2] ?? '';
    const work = context().write(async (tx) => {
      await tx.models.carrier.create({ data: { id: other, name: other, tenantId } });
      await Promise.all(late);
      throw new Error('refused');
    });
    await expect(work).rejects.toThrow('refused');
    const outcomes = await Promise.all(late);
    // Each was stored by its own transaction, before its commit, or failed. None was rolled back by the other one.
    for (const [index, outcome] of outcomes.entries())
      expect([outcome === 'stored' ? 1 : 0, outcome]).toEqual([
        await countCarriers(ids[index] ?? ''),
        outcome,
      ]);
    expect(await countCarriers(other)).toBe(0);
  });
});
