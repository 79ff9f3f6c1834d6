import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type pg from 'pg';
import { makeConnectionShares } from '../../src/platform/limits/connection-shares.js';
import { makeContext } from '../../src/platform/context/request-context.js';
import { isAway } from '../../src/platform/db/violations.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { expectSuccess } from '../support/assertions/scenario.js';
import { rounds } from '../support/harness/effort.js';
import { until } from '../support/service/processes.js';
import { startService, type Reply, type Service } from '../support/service/service.js';

const POOL = 10;
const KEYS = { HRB: 'b'.repeat(64), IEX: 'a'.repeat(64) };

let service: Service;
let unlock: (() => Promise<void>) | undefined;
let sent = 0;
/** This test waits for the statement timeout, so it runs beside the others, with a service of its own. */
let timedOut: Promise<void>;

beforeAll(async () => {
  service = await startService({ poolSize: POOL });
  timedOut = waitForStatementTimeout();
  // The test that waits for it reports its failure.
  timedOut.catch(() => {});
});

afterEach(async () => {
  await unlock?.();
});

afterAll(async () => {
  await Promise.allSettled([timedOut]);
  await service.stop();
});

/** Locks the courier, so that every statement that writes to it waits until `unlock`. */
async function lockCourier(courierId: string): Promise<void> {
  const end = await lockCourierAt(service, courierId);
  unlock = () => {
    unlock = undefined;
    return end();
  };
}

/** Returns the function that ends the lock, which may be called again. */
async function lockCourierAt({ owner }: Service, courierId: string): Promise<() => Promise<void>> {
  const client: pg.PoolClient = await owner.connect();
  await client.query('begin');
  await client.query('select from couriers where id = $1 for update', [courierId]);
  let ended: Promise<void> | undefined;
  return () => (ended ??= client.query('rollback').then(() => client.release()));
}

/** Returns how many of the service's connections wait for a lock, without that of the log of calls, which no request waits for. */
async function countWaiting({ owner } = service): Promise<number> {
  const { rows } = await owner.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and application_name = 'crossdock' and wait_event_type = 'Lock'
       and query not like '%sent as materialized%'`,
  );
  return rows[0]?.count ?? 0;
}

/** Returns the process ids of the service's connections. */
async function connectionsOf({ owner }: Service): Promise<number[]> {
  const { rows } = await owner.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and application_name = 'crossdock'`,
  );
  return rows.map(({ pid }) => pid);
}

const announce = (
  key: string,
  userCode: string,
  headers: Record<string, string> = {},
  at = service,
): Promise<Reply> =>
  at.call('submitPrealert', {
    key,
    body: { UserCode: userCode, TrackingNumber: `SEAT-${(sent += 1)}`, Vendor: 'Shop' },
    headers,
  });

/** Announces with an Idempotency-Key: in a transaction of its own, which others do not share (decision 0066). */
const announceAlone = (key: string, userCode: string, at = service): Promise<Reply> =>
  announce(key, userCode, { 'idempotency-key': randomUUID() }, at);

const addCustomer = (as: string, courierId?: string, at = service): Promise<Reply> =>
  at.call('createCustomer', {
    as,
    body: {
      user_code: `SEAT-${(sent += 1)}`,
      first_name: 'Ann',
      last_name: 'Lee',
      ...(courierId ? { courier_id: courierId } : {}),
    },
  });

const times = <Result>(count: number, work: (n: number) => Promise<Result>): Promise<Result>[] =>
  Array.from({ length: count }, (_, n) => work(n));

const countOf = (replies: Reply[], status: number) =>
  replies.filter((reply) => reply.status === status).length;

const otherCallers = () =>
  Promise.all([
    ...times(rounds(15, 30), () => announce(KEYS.IEX, 'IEX-1001')),
    ...times(rounds(10, 20), () => service.call('listCustomers', { as: 'iex' })),
    ...times(rounds(10, 20), () => service.call('listCustomers', { as: 'admin' })),
  ]);

describe('slow queries', () => {
  test('of one courier, by users and API key, use four of ten connections at most, and no other caller is rejected', async () => {
    expect((await announce(KEYS.HRB, 'HRB-2001')).status).toBe(201);
    await lockCourier(DEMO.couriers.HRB);
    const slow = [
      ...times(20, () => announceAlone(KEYS.HRB, 'HRB-2001')),
      ...times(20, () => addCustomer('hrb')),
    ];
    await until(async () => (await countWaiting()) === 4);
    for (let round = 0; round < 3; round += 1) {
      const replies = await otherCallers();
      expect(countOf(replies, 200) + countOf(replies, 201)).toBe(replies.length);
      expect(await countWaiting()).toBe(4);
    }
    // After two seconds in which none of the courier's transactions has ended, those in the queue are rejected.
    const refused: Reply[] = [];
    for (const reply of slow) void reply.then((each) => each.status === 503 && refused.push(each));
    await until(async () => refused.length === 36);
    for (const { body, headers } of refused)
      expect([body['code'], headers.get('retry-after')]).toEqual([
        'overloaded',
        expect.stringMatching(/^[1-4]$/),
      ]);
    await unlock?.();
    const replies = await Promise.all(slow);
    expect([countOf(replies, 503), countOf(replies, 200) + countOf(replies, 201)]).toEqual([36, 4]);
    expect((await announce(KEYS.HRB, 'HRB-2001')).status).toBe(201);
  });

  test('of one tenant, staff included, use eight of ten connections at most, and no other tenant is rejected', async () => {
    await lockCourier(DEMO.couriers.TWO);
    const slow = times(30, () => addCustomer('two/admin', DEMO.couriers.TWO));
    await until(async () => (await countWaiting()) === 8);
    const replies = await otherCallers();
    expect(countOf(replies, 200) + countOf(replies, 201)).toBe(replies.length);
    expect(await countWaiting()).toBe(8);
    await unlock?.();
    expect(countOf(await Promise.all(slow), 200)).toBeGreaterThanOrEqual(8);
  });

  test(
    "end with the statement timeout, which frees the courier's connections; idle ones stay open",
    () => expectSuccess(timedOut),
    40_000,
  );
});

async function waitForStatementTimeout(): Promise<void> {
  const own = await startService({ poolSize: POOL });
  const end = await lockCourierAt(own, DEMO.couriers.HRB);
  try {
    await Promise.all(times(8, () => own.call('listCustomers', { as: 'admin' })));
    const opened = await connectionsOf(own);
    expect(opened.length).toBeGreaterThan(4);
    const slow = times(4, () => addCustomer('hrb', undefined, own));
    await until(async () => (await countWaiting(own)) === 4);
    expect(countOf(await Promise.all(slow), 503)).toBe(4);
    // The others were idle for the 15 seconds of the statement timeout.
    expect(await connectionsOf(own)).toEqual(expect.arrayContaining(opened));
    await end();
    expect((await addCustomer('hrb', undefined, own)).status).toBe(200);
  } finally {
    // Without it, the service would wait for the lock after a failure, which would stay unknown.
    await end();
    await own.stop();
  }
}

test('300 submissions at once, each with an Idempotency-Key, are all served', async () => {
  // The courier may use one connection, so that the last request waits for long.
  const own = await startService({ poolSize: 2 });
  try {
    const replies = await Promise.all(times(300, () => announceAlone(KEYS.IEX, 'IEX-1001', own)));
    const codes = new Set(replies.map(({ status, body }) => `${status} ${String(body['code'] ?? '')}`));
    expect(codes).toEqual(new Set(['201 ']));
  } finally {
    await own.stop();
  }
}, 60_000);

test('anonymous requests from a new network are served before most of those of a network that sends many', async () => {
  const own = await startService({ poolSize: 2, env: { TRUST_PROXY: '127.0.0.1' } });
  const client = await own.owner.connect();
  try {
    await client.query('begin');
    await client.query('lock table login_throttles in access exclusive mode');
    const served: string[] = [];
    const request = async (address: string) => {
      const { status } = await own.call('resetPassword', {
        body: { action: 'request', username: `nobody-${(sent += 1)}` },
        headers: { 'x-forwarded-for': address },
      });
      served.push(`${address} ${status}`);
    };
    const waiting = (count: number) => until(async () => own.db.connectionShares.countWaiting() === count);
    const running = times(18, () => request('192.0.2.1'));
    // A tenant of two uses one of two connections.
    await waiting(17);
    running.push(request('198.51.100.1'));
    await waiting(18);
    await client.query('rollback');
    await Promise.all(running);
    expect(served).toHaveLength(19);
    expect(served.indexOf('198.51.100.1 200')).toBeGreaterThanOrEqual(0);
    expect(served.indexOf('198.51.100.1 200')).toBeLessThan(8);
  } finally {
    await client.query('rollback');
    client.release();
    await own.stop();
  }
}, 30_000);

test('a request keeps its network in the scope of the tenant, in which logins run', () => {
  const caller = { kind: 'system' as const, tenantId: DEMO.tenants.demo, address: '192.0.2.1' };
  expect(makeContext(service.db, caller, 'request').asTenant().caller).toEqual(caller);
});

describe('connection shares', () => {
  const system = (tenantId: string) => ({ kind: 'system' as const, tenantId });
  const key = (keyHash: string) => ({ kind: 'key' as const, tenantId: 't', keyHash, address: '192.0.2.1' });
  /** A service token, which claims a courier. */
  const token = (keyHash: string, courierId: string | null, address = '192.0.2.1') => ({
    ...{ kind: 'token' as const, tenantId: 't', tokenId: keyHash, userId: keyHash, keyHash, courierId },
    ...{ role: 'courier' as const, scopes: [], address },
  });
  const makeShares = (size: number) => {
    const shares = makeConnectionShares({ size, countTenants: () => Promise.resolve(1), isAway });
    for (const name of ['a', 'b', 'c']) shares.recordKeyOwner(key(name), name);
    return shares;
  };
  const staff = {
    ...{ kind: 'user' as const, tenantId: 't', userId: 'u', role: 'admin' as const, courierId: null },
    ...{ tokenVersion: 1, expiresAt: 0 },
  };

  /** Makes work that runs until it is ended. */
  function open() {
    const order: string[] = [];
    const ends: (() => void)[] = [];
    const work = (name: string) => () =>
      new Promise<void>((resolve) => {
        order.push(name);
        ends.push(resolve);
      });
    return { order, ends, work };
  }

  /** Ends each piece of work as soon as it has started. */
  async function endInOrder(running: Promise<void>[], ends: (() => void)[]): Promise<void> {
    for (let n = 0; n < running.length; n += 1) {
      await until(() => Promise.resolve(ends[n] !== undefined));
      ends[n]?.();
    }
    await Promise.all(running);
  }

  test('a single tenant may use the whole pool', async () => {
    const shares = makeShares(POOL);
    await shares.run(system('t'), () => Promise.resolve());
    const { order, ends, work } = open();
    const running = times(POOL, () => shares.run(system('t'), work('t')));
    await Promise.resolve();
    expect(order).toHaveLength(POOL);
    for (const end of ends) end();
    await Promise.all(running);
  });

  test('waiting work is admitted round-robin by courier, however much of one courier waits', async () => {
    const shares = makeShares(2);
    await shares.run(system('t'), () => Promise.resolve());
    const { order, ends, work } = open();
    const running = [
      ...times(2, () => shares.run(system('t'), work('staff'))),
      ...times(50, () => shares.run(key('a'), work('a'))),
      shares.run(key('b'), work('b')),
      shares.run(key('c'), work('c')),
    ];
    await endInOrder(running, ends);
    expect(order.indexOf('b')).toBeLessThan(6);
    expect(order.indexOf('c')).toBeLessThan(6);
    expect(order).toHaveLength(54);
  });

  // The owners of the keys and tokens 'a', 'b' and 'c' are checked.
  test.each([
    ['keys', (name: string, address: string) => ({ ...key(name), address })],
    ["service tokens that claim to be a courier's", (name: string, at: string) => token(name, 'a', at)],
    ["service tokens that claim to be the staff's", (name: string, at: string) => token(name, null, at)],
  ])(
    '400 %s, which nobody has checked, have one share, and their networks take turns',
    async (_, stranger) => {
      const shares = makeShares(POOL);
      await shares.run(system('t'), () => Promise.resolve());
      const { order, ends, work } = open();
      const running = times(400, (n) =>
        shares.run(stranger(`invented ${n}`, '203.0.113.1'), work('invented')),
      );
      running.push(shares.run(stranger('unchecked', '198.51.100.7'), work('unchecked')));
      // The known courier has a share of its own: also its service tokens.
      running.push(shares.run(key('a'), work('a')), shares.run(token('a', 'a'), work('a')));
      await Promise.resolve();
      const share = Math.max(1, Math.floor(POOL * 0.4));
      expect(order).toEqual([...Array<string>(share).fill('invented'), 'a', 'a']);
      await endInOrder(running, ends);
      expect(order.indexOf('unchecked')).toBeLessThan(2 * share + 4);
    },
  );

  test('a checked service token shares the connections of its courier, and one of the staff those of its tenant', async () => {
    const shares = makeShares(POOL);
    await shares.run(system('t'), () => Promise.resolve());
    shares.recordKeyOwner(key('of staff'), null);
    const { order, ends, work } = open();
    const running = [
      ...times(4, () => shares.run(key('a'), work('key'))),
      shares.run(token('a', 'a'), work('token')),
      ...times(5, () => shares.run(token('of staff', null), work('staff'))),
    ];
    await Promise.resolve();
    expect(order).toEqual([...Array<string>(4).fill('key'), ...Array<string>(5).fill('staff')]);
    await endInOrder(running, ends);
  });

  test('requests without a credential take turns by network', async () => {
    const shares = makeShares(2);
    await shares.run(system('t'), () => Promise.resolve());
    const { order, ends, work } = open();
    const from = (address: string) => shares.run({ ...system('t'), address }, work(address));
    const running = [...times(40, () => from('flood')), from('other'), from('another')];
    await endInOrder(running, ends);
    expect(order.indexOf('other')).toBeLessThan(5);
    expect(order.indexOf('another')).toBeLessThan(6);
  });

  test('work that waits is not rejected while transactions of its key end, and is rejected two seconds after the last', async () => {
    const shares = makeShares(2);
    await shares.run(system('t'), () => Promise.resolve());
    const { ends, work } = open();
    const outcomes: string[] = [];
    const running = times(8, () => shares.run(key('a'), work('a')));
    for (const each of running)
      each.then(
        () => outcomes.push('served'),
        (error: unknown) => outcomes.push(String((error as { code?: unknown }).code)),
      );
    // One at a time, each for less than two seconds, together longer.
    for (let n = 0; n < 3; n += 1) {
      await until(async () => ends[n] !== undefined);
      await sleep(1_200);
      ends[n]?.();
    }
    await until(async () => ends[3] !== undefined);
    expect(outcomes).toEqual(['served', 'served', 'served']);
    const stalledMs = performance.now();
    await until(async () => outcomes.length === 7);
    expect(performance.now() - stalledMs).toBeGreaterThan(1_500);
    expect(outcomes.slice(3)).toEqual(Array<string>(4).fill('overloaded'));
    ends[3]?.();
    await running[3];
    // Refused work has ended too, and the next one starts.
    await shares.run(key('a'), () => Promise.resolve());
  }, 20_000);

  test('without a database, what waits is rejected after two seconds', async () => {
    const shares = makeShares(2);
    await shares.run(system('t'), () => Promise.resolve());
    const startedMs = performance.now();
    const away = async () => {
      await sleep(900);
      throw Object.assign(new Error('timeout exceeded when trying to connect'));
    };
    const results = await Promise.allSettled(times(20, () => shares.run(key('a'), away)));
    expect(performance.now() - startedMs).toBeLessThan(4_000);
    expect(results.filter(({ status }) => status === 'fulfilled')).toEqual([]);
  }, 20_000);

  test('staff do not wait behind a flood of logins', async () => {
    const shares = makeShares(2);
    await shares.run(system('t'), () => Promise.resolve());
    const { order, ends, work } = open();
    const running = [
      ...times(100, () => shares.run(system('t'), work('login'))),
      ...times(3, () => shares.run(staff, work('staff'))),
    ];
    await endInOrder(running, ends);
    // Two logins have connections. Then one login and one member of the staff start in turns.
    expect(order.slice(0, 8).join(' ')).toBe('login login login staff login staff login staff');
  });

  test('the users of a courier or of the staff take turns, and the one with the most is refused first', async () => {
    const shares = makeShares(2);
    await shares.run(system('t'), () => Promise.resolve());
    const { order, ends, work } = open();
    const run = (userId: string) => shares.run({ ...staff, userId }, work(userId));
    // Two start, and 1,000 may wait.
    const flood = Promise.allSettled(times(1_010, () => run('a')));
    const others = Promise.all([run('b'), run('c'), run('b')]);
    for (let n = 0; n < 1_002; n += 1) {
      await new Promise(setImmediate);
      ends[n]?.();
    }
    await others;
    expect(order.slice(0, 7).join(' ')).toBe('a a a b c a b');
    expect((await flood).filter(({ status }) => status === 'rejected')).toHaveLength(8 + 3);
  }, 20_000);
});
