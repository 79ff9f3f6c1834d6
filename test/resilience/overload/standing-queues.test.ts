import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isAway } from '../../../src/platform/db/violations.js';
import type { Caller } from '../../../src/platform/identity/callers.js';
import { makeConnectionShares } from '../../../src/platform/limits/connection-shares.js';
import { makeCombiner } from '../../../src/platform/context/shared-write.js';
import { makeControlledDelay } from '../../../src/platform/limits/overload/controlled-delay.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { until } from '../../support/service/processes.js';
import { startService, untilAdmitted, type Reply, type Service } from '../../support/service/service.js';

// Absolute times would depend on the machine: what is compared is who is served, and who is refused.

const keyOf = (keyHash: string, tenantId = 't'): Caller => ({
  kind: 'key',
  tenantId,
  keyHash,
  address: '192.0.2.1',
});
const code = (error: unknown) => String((error as { code?: unknown }).code);

/** Shares of one connection, with work that takes `workMs`. */
async function openShares(shedsLoad = true) {
  const shares = makeConnectionShares({ size: 1, countTenants: () => Promise.resolve(1), isAway, shedsLoad });
  await shares.run(keyOf('first'), () => Promise.resolve());
  const outcomes: { caller: string; waitedMs: number; outcome: string }[] = [];
  const send = async (caller: Caller, workMs = 20, isContinued = false) => {
    const name = caller.kind === 'key' ? caller.keyHash : caller.kind;
    if (caller.kind === 'key') shares.recordKeyOwner(caller, caller.keyHash);
    const startedMs = performance.now();
    let waitedMs: number | undefined;
    const outcome = await shares
      .run(
        caller,
        () => {
          waitedMs = performance.now() - startedMs;
          return sleep(workMs);
        },
        isContinued,
      )
      .then(() => 'served', code);
    outcomes.push({ caller: name, waitedMs: waitedMs ?? performance.now() - startedMs, outcome });
    return outcome;
  };
  /** Sends three times of what one connection can do, until stopped. */
  function flood(caller: Caller) {
    const stopping = new AbortController();
    const sent: Promise<string>[] = [];
    const ended = (async () => {
      while (!stopping.signal.aborted) {
        sent.push(send(caller));
        await sleep(20 / 3);
      }
      await Promise.all(sent);
    })();
    return {
      stop: () => {
        stopping.abort();
        return ended;
      },
    };
  }
  const untilRefused = (caller: string) =>
    until(() =>
      Promise.resolve(outcomes.some((each) => each.caller === caller && each.outcome === 'overloaded')),
    );
  return { shares, outcomes, send, flood, untilRefused };
}

describe('a standing queue', () => {
  test('refuses new requests soon, serves others in turns, and takes bursts again when the flood has ended', async () => {
    const { shares, outcomes, send, flood, untilRefused } = await openShares();
    const running = flood(keyOf('a'));
    await untilRefused('a');
    // What arrived before is refused half a second later, because newer requests have no turn either.
    await sleep(1_000);
    const from = outcomes.length;
    const light: string[] = [];
    for (let n = 0; n < 20; n += 1) light.push(await send(keyOf('b')));
    expect(light).toEqual(Array(20).fill('served'));
    const during = outcomes.slice(from).filter(({ caller }) => caller === 'a');
    const served = during.filter(({ outcome }) => outcome === 'served');
    const refused = during.filter(({ outcome }) => outcome === 'overloaded');
    expect(served.length).toBeGreaterThan(0);
    expect(refused.length).toBeGreaterThan(served.length);
    // Before, the wait grew to fourteen seconds.
    expect(Math.max(...during.map(({ waitedMs }) => waitedMs))).toBeLessThan(3_000);
    await running.stop();
    await until(() => Promise.resolve(!shares.delay?.isRefusing()));
    expect(shares.delay?.countStanding()).toBe(0);
    const burst = await Promise.all(Array.from({ length: 50 }, () => send(keyOf('a'), 1)));
    expect(burst).toEqual(Array(50).fill('served'));
  }, 30_000);

  test('of one user stands although another user of the same queue starts in time', async () => {
    const { shares, outcomes, send, flood } = await openShares();
    const user = (userId: string): Caller => ({
      ...{
        kind: 'user',
        tenantId: 't',
        userId,
        role: 'admin',
        courierId: null,
        tokenVersion: 1,
        expiresAt: 0,
      },
    });
    const running = flood(user('a'));
    const light: string[] = [];
    while (!outcomes.some(({ outcome }) => outcome === 'overloaded') && light.length < 400)
      light.push(await send(user('b'), 1));
    await running.stop();
    expect(new Set(light)).toEqual(new Set(['served']));
    expect(shares.delay?.countRefused()).toBeGreaterThan(0);
  }, 30_000);

  test('is no burst: requests that arrived at once are all served, however long that takes', async () => {
    const { send } = await openShares();
    const burst = await Promise.all(Array.from({ length: 60 }, () => send(keyOf('a'), 60)));
    expect(burst).toEqual(Array(60).fill('served'));
  }, 30_000);

  test('is no burst that arrives slowly either, because the machine is busy', async () => {
    const { send, shares } = await openShares();
    const sent: Promise<string>[] = [];
    const deadlineMs = performance.now() + 4_000;
    while (performance.now() < deadlineMs && sent.length < 250) {
      sent.push(send(keyOf('a'), 30));
      await sleep(15);
    }
    expect(await Promise.all(sent)).toEqual(Array(sent.length).fill('served'));
    expect(shares.delay?.countRefused()).toBe(0);
  }, 30_000);

  test('serves what arrives during a long burst before the rest of the burst', async () => {
    const { send, outcomes, shares } = await openShares();
    const burst = Promise.all(Array.from({ length: 60 }, () => send(keyOf('a'), 60)));
    await until(() => Promise.resolve((shares.delay?.countStanding() ?? 0) > 0));
    // One connection serves one at a time, in less time than the target on an idle machine.
    await send(keyOf('a'), 1, true);
    expect(outcomes.filter(({ outcome }) => outcome === 'served').length).toBeLessThan(60);
    expect(await burst).toEqual(Array(60).fill('served'));
  }, 30_000);

  test('never refuses the next transaction of a request that has had one', async () => {
    const { send, flood, untilRefused } = await openShares();
    const running = flood(keyOf('a'));
    await untilRefused('a');
    for (let n = 0; n < 10; n += 1) expect(await send(keyOf('a'), 1, true)).toBe('served');
    await running.stop();
  }, 30_000);

  test('gives each tenant its turn, however many couriers of another wait', async () => {
    const { send, outcomes } = await openShares();
    const many = Array.from({ length: 40 }, (_, n) => send(keyOf(`courier-${n}`, 'large'), 5));
    await nextTurn();
    await send(keyOf('small', 'small'), 5);
    const before = outcomes.findIndex(({ caller }) => caller === 'small');
    expect(before).toBeLessThan(4);
    await Promise.all(many);
  });

  test('of jobs refuses nothing', async () => {
    const { flood, outcomes } = await openShares(false);
    const running = flood(keyOf('a'));
    await sleep(3_500);
    await running.stop();
    expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['served']));
  }, 60_000);
});

test('the combiner refuses new items of a standing queue soon, and no other key', async () => {
  const delay = makeControlledDelay();
  const combiner = makeCombiner<number, number>(1, delay);
  // Fewer than arrive.
  const write = async (items: readonly number[]) => {
    await sleep(400);
    return [...items];
  };
  const outcomes: string[] = [];
  const sent: Promise<unknown>[] = [];
  const endMs = performance.now() + 5_000;
  for (let n = 0; performance.now() < endMs; n += 1) {
    sent.push(
      combiner.run('a', n, write).then(
        () => outcomes.push('served'),
        (error: unknown) => outcomes.push(code(error)),
      ),
    );
    await sleep(2);
  }
  expect(outcomes).toContain('overloaded');
  expect(await combiner.run('b', 1, (items) => Promise.resolve([...items]))).toBe(1);
  expect(() => combiner.assertMayWait('b')).not.toThrow();
  await Promise.all(sent);
  expect(outcomes).toContain('served');
}, 30_000);

describe('over HTTP', () => {
  let service: Service;
  let sent = 0;

  beforeAll(async () => {
    service = await startService({ poolSize: 2 });
  });

  afterAll(() => service.stop());

  const announce = (headers: Record<string, string> = {}): Promise<Reply> =>
    service.call('submitPrealert', {
      key: 'a'.repeat(64),
      body: { UserCode: 'IEX-1001', TrackingNumber: `LOAD-${(sent += 1)}`, Vendor: 'Shop' },
      headers,
    });

  test('300 submissions at once without an Idempotency-Key are all served', async () => {
    const replies = await Promise.all(Array.from({ length: 300 }, () => announce()));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
  }, 60_000);

  test('a flood of a courier gets 503 with Retry-After, while stations scan and log in', async () => {
    const caller: Caller = { kind: 'key', tenantId: DEMO.tenants.demo, keyHash: '', address: '192.0.2.1' };
    expect(() => service.db.connectionShares.assertMayWait(caller)).not.toThrow();
    const refused: Reply[] = [];
    let isStopped = false;
    // Each client sends its next request when it has its response, so that their number is bounded.
    const clients = Array.from({ length: 120 }, async () => {
      while (!isStopped) {
        const reply = await announce({ 'idempotency-key': randomUUID() });
        if (reply.status === 503) refused.push(reply);
      }
    });
    try {
      await until(() => Promise.resolve(refused.length > 50));
      const scans = [];
      for (let n = 0; n < 5; n += 1)
        scans.push(
          await untilAdmitted(() =>
            service.call('resolveScan', { as: 'warehouse', body: { scan: `LOAD-${n}` } }),
          ),
        );
      expect(scans.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      const login = { action: 'login', username: 'admin', password: DEMO.password };
      expect((await untilAdmitted(() => service.call('login', { body: login }))).status).toBe(200);
      expect((await service.call('getHealth')).status).toBe(200);
      expect((await service.call('getReadiness')).status).toBe(200);
    } finally {
      isStopped = true;
      await Promise.all(clients);
    }
    for (const { body, headers } of refused) {
      expect(body).toMatchObject({ status: 'error', code: 'overloaded' });
      expect(headers.get('retry-after')).toMatch(/^[1-4]$/);
    }
    expect(new Set(refused.map(({ headers }) => headers.get('retry-after'))).size).toBeGreaterThan(1);
    await until(() => Promise.resolve(!service.db.connectionShares.delay?.isRefusing()));
    expect((await announce()).status).toBe(201);
  }, 60_000);
});
