import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { UserCaller } from '../../../src/platform/identity/callers.js';
import { makeBulkLimits } from '../../../src/platform/limits/bulk-limits.js';
import { makeLoginLimiter } from '../../../src/platform/limits/login-limiter.js';
import { makeKeyedLimiter } from '../../../src/platform/limits/queues/keyed-limiter.js';

// A user that sends much at once does not fill a queue that others share: users take turns, piece by piece (decision 0098).

const user = (userId: string, tenantId = 'tenant', courierId: string | null = null): UserCaller => ({
  kind: 'user',
  tenantId,
  userId,
  role: courierId === null ? 'warehouse' : 'courier',
  courierId,
  tokenVersion: 1,
  expiresAt: 0,
});

const turn = () => new Promise(setImmediate);
const bulkLimits = () => makeBulkLimits(10, { isHigh: () => false });

/** Work of several pieces, each of which notes its name and takes a turn of the event loop. */
function recorder() {
  const order: string[] = [];
  const work =
    (name: string, pieces = 1) =>
    async (giveWay: () => Promise<void> = turn) => {
      for (let piece = 1; piece <= pieces; piece += 1) {
        if (piece > 1) await giveWay();
        order.push(name);
        await turn();
      }
    };
  return { order, work };
}

test('large batches of scans run one at a time per tenant', async () => {
  const limits = bulkLimits();
  const { order, work } = recorder();
  const batch = (tenantId: string) => limits.limitBatch(user('a', tenantId), 500, work(tenantId));
  const all = [batch('one'), batch('one'), batch('two')];
  await Promise.resolve();
  expect(order).toEqual(['one', 'two']);
  await Promise.all(all);
  expect(order).toEqual(['one', 'two', 'one']);
});

test.each([5, 500])(
  'a batch of %i scans waits for a piece of each other user, not for their queues',
  async (scans) => {
    const limits = bulkLimits();
    const { order, work } = recorder();
    const many = (userId: string) =>
      Array.from({ length: 12 }, (_, n) => limits.limitBatch(user(userId), scans, work(`${userId}${n}`, 5)));
    await Promise.all([...many('a'), ...many('b'), limits.limitBatch(user('c'), scans, work('c', 2))]);
    expect(order.slice(0, 6)).toEqual(['a0', 'b0', 'c', 'a0', 'b0', 'c']);
    // The batches of one user are in order.
    expect(order.filter((name) => name.startsWith('a'))).toEqual(
      Array.from({ length: 60 }, (_, n) => `a${Math.floor(n / 5)}`),
    );
  },
);

test('work that has given way is not refused, however many wait and for how long', async () => {
  const limiter = makeKeyedLimiter({ concurrency: 1, maxWaiting: 3, maxWaitMs: 200, retryAfterSeconds: 1 });
  const order: string[] = [];
  const running = ['a', 'b', 'c'].map((name) =>
    limiter.run(
      'key',
      async (giveWay) => {
        await giveWay();
        await sleep(300);
        order.push(name);
      },
      { caller: name },
    ),
  );
  await turn();
  const flood = await Promise.allSettled(
    Array.from({ length: 9 }, (_, n) => limiter.run(`other${n}`, turn, { caller: 'd' })),
  );
  await Promise.all(running);
  expect(order).toEqual(['a', 'b', 'c']);
  expect(flood.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(5);
});

test('a caller that fills the queue under many keys is refused before a caller of another key', async () => {
  const limiter = makeKeyedLimiter({ concurrency: 1, maxWaiting: 8, maxWaitMs: 5_000, retryAfterSeconds: 1 });
  const flood = Array.from({ length: 20 }, (_, n) => limiter.run(`courier ${n}`, turn, { caller: 'flood' }));
  const ended = Promise.allSettled(flood);
  await limiter.run('another courier', turn, { caller: 'another user' });
  expect((await ended).filter(({ status }) => status === 'rejected')).toHaveLength(12);
});

test('of a key that is full, the calls of the caller that floods it make room', async () => {
  const limiter = makeKeyedLimiter({ concurrency: 1, maxWaiting: 8, maxWaitMs: 5_000, retryAfterSeconds: 1 });
  const ends: string[] = [];
  const call = (key: string, caller: string) =>
    limiter.run(key, turn, { caller }).then(
      () => ends.push(caller),
      () => ends.push(`${caller} refused`),
    );
  const running = Array.from({ length: 8 }, () => call('tenant', 'flood'));
  running.push(call('tenant', 'user'), call('tenant', 'user'), call('other tenant', 'other'));
  await Promise.all(running);
  expect(ends.filter((end) => end !== 'flood').toSorted()).toEqual([
    'flood refused',
    'flood refused',
    'other',
    'user',
    'user',
  ]);
});

test('the staff of a tenant take turns with another tenant, and make room for it', async () => {
  const limits = bulkLimits();
  const { order, work } = recorder();
  // More than may wait, each of its own user. Two run at the same time.
  const flood = Array.from({ length: 60 }, (_, n) => limits.limitReport(user(`user ${n}`), work('flood')));
  const ended = Promise.allSettled(flood);
  const others = Array.from({ length: 3 }, (_, n) =>
    limits.limitReport(user(`other ${n}`, 'other'), work('other')),
  );
  await Promise.all(others);
  expect(order.lastIndexOf('other')).toBeLessThan(9);
  expect((await ended).filter(({ status }) => status === 'rejected').length).toBeGreaterThan(25);
});

test('a login from a new network is not late because another network logs in at many tenants', async () => {
  const limiter = makeLoginLimiter(1);
  const order: string[] = [];
  let isOver = false;
  const attempt = (tenant: string, address: string): Promise<void> =>
    limiter.withLimit(
      tenant,
      'manager',
      async () => {
        order.push(address);
        await turn();
      },
      address,
    );
  /** One login after the other, as a program sends that waits for each response. */
  async function flood(tenant: string): Promise<void> {
    while (!isOver) await attempt(tenant, '203.0.113.9').catch(() => undefined);
  }
  const floods = Array.from({ length: 15 }, (_, n) => flood(`tenant ${n}`));
  for (let count = 0; count < 40; count += 1) await turn();
  for (const network of ['192.0.2.7', '198.51.100.7', '198.18.0.7']) {
    order.length = 0;
    await attempt('victim', network);
    expect(order.indexOf(network)).toBeLessThan(3);
  }
  isOver = true;
  await Promise.all(floods);
});

test.each(['uploads', 'reports'])('long %s of a tenant leave one place to other tenants', async (kind) => {
  const limits = bulkLimits();
  const ends: (() => void)[] = [];
  const run = (courier: string, tenant: string, work: () => Promise<void>) => {
    const caller = user(courier, tenant, courier);
    return kind === 'uploads' ? limits.limitUpload(caller, courier, work) : limits.limitReport(caller, work);
  };
  const held = ['one', 'two', 'three'].map((courier) =>
    run(courier, 'tenant', () => new Promise<void>((end) => ends.push(end))),
  );
  await run('other', 'other tenant', async () => {
    await turn();
  });
  expect(ends).toHaveLength(2);
  ends[0]?.();
  await held[0];
  await turn();
  expect(ends).toHaveLength(3);
  for (const end of ends) end();
  await Promise.all(held);
});

test('a login is neither refused nor late because one network tries many names', async () => {
  const limiter = makeLoginLimiter(1);
  const order: string[] = [];
  const attempt = (name: string, address: string) =>
    limiter.withLimit(
      'tenant',
      name,
      async () => {
        order.push(address);
        await turn();
      },
      address,
    );
  const flood = Array.from({ length: 40 }, (_, n) => attempt(`name ${n}`, `2001:db8::${n.toString(16)}`));
  const ended = Promise.allSettled(flood);
  await limiter.assertSpace('tenant', 'warehouse', '192.0.2.7');
  await Promise.all([attempt('warehouse', '192.0.2.7'), attempt('manager', '192.0.2.7')]);
  expect(order.lastIndexOf('192.0.2.7')).toBeLessThan(6);
  expect((await ended).filter(({ status }) => status === 'rejected').length).toBeGreaterThan(20);
});

test('an upload of a courier is neither refused nor late because one of the staff sends files of many others', async () => {
  const limits = bulkLimits();
  const { order, work } = recorder();
  const staff = { ...user('manager'), courierId: null };
  const flood = Array.from({ length: 60 }, (_, n) =>
    limits.limitUpload(staff, `courier ${n}`, work('flood')),
  );
  const ended = Promise.allSettled(flood);
  await limits.limitUpload(user('owner', 'tenant', 'own'), 'own', work('own'));
  expect(order.indexOf('own')).toBeLessThan(5);
  expect((await ended).filter(({ status }) => status === 'rejected').length).toBeGreaterThan(20);
});

test.each([
  ['one manager', (n: number) => ({ tenantId: 'tenant', userId: 'manager', courierId: null, n })],
  ['users of a courier', (n: number) => ({ tenantId: 'tenant', userId: `user ${n}`, courierId: 'c', n })],
])('a login is neither refused nor late because %s set many passwords', async (_who, callerOf) => {
  const limiter = makeLoginLimiter(1);
  const order: string[] = [];
  const hash = (name: string) => async () => {
    order.push(name);
    await turn();
  };
  limiter.noteLogin('tenant', 'victim', '192.0.2.7');
  const flood = Array.from({ length: 40 }, (_, n) => limiter.hashFor(callerOf(n), hash('flood')));
  const ended = Promise.allSettled(flood);
  await limiter.assertSpace('tenant', 'victim', '192.0.2.7');
  await limiter.withLimit('tenant', 'victim', hash('victim'), '192.0.2.7');
  expect(order.indexOf('victim')).toBeLessThan(3);
  expect((await ended).filter(({ status }) => status === 'rejected').length).toBeGreaterThan(20);
});

test.each(['uploads', 'reports'])('the users of a courier take turns with %s', async (kind) => {
  const limits = bulkLimits();
  const { order, work } = recorder();
  const run = (name: string) => {
    const caller = user(name, 'tenant', 'courier');
    return kind === 'uploads'
      ? limits.limitUpload(caller, 'courier', work(name))
      : limits.limitReport(caller, work(name));
  };
  // More than may wait: the last ones of the user that floods are refused, and those of the other one are not.
  const flood = Array.from({ length: 60 }, () => run('flood'));
  const ended = Promise.allSettled(flood);
  await Promise.all([run('other'), run('other')]);
  expect(order.lastIndexOf('other')).toBeLessThan(5);
  expect((await ended).filter(({ status }) => status === 'rejected').length).toBeGreaterThan(20);
});
