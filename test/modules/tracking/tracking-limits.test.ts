import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeParcels, newNumber } from '../../support/builders/parcels.js';
import { makeApi } from '../../support/fixture/api.js';
import { ask, logIn } from '../../support/service/client.js';
import { demoDatabase } from '../../support/service/database.js';
import { endProcesses, startReplica } from '../../support/service/processes.js';
import { startService, type Service } from '../../support/service/service.js';
import { BROWSER, makeTracking } from './tracking-calls.js';

const LIMIT_MS = 60_000;

let service: Service;
let tracking: ReturnType<typeof makeTracking>;

beforeAll(async () => {
  service = await startService({ env: { TRUST_PROXY: '127.0.0.1' } });
  tracking = makeTracking(
    makeApi(() => service),
    () => service,
  );
}, LIMIT_MS);

afterAll(() => service.stop());

const newKey = () => randomBytes(16).toString('base64url');
const from = (address: string) => ({ headers: { ...BROWSER, 'x-forwarded-for': address } });
const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

test(
  'a wrong, an ended and a foreign key get the same page in the same time',
  async () => {
    await tracking.enable();
    const ended = await tracking.receive();
    const endedKey = await tracking.keyOf(ended.id);
    await makeParcels(service).update('admin', ended.id, { user_code: 'IEX-1002' });
    const foreign = await tracking.keyOf((await tracking.receive()).id);
    const kinds = {
      wrong: () => tracking.page(newKey(), from('203.0.113.1')),
      short: () => tracking.page('x', from('203.0.113.2')),
      ended: () => tracking.page(endedKey, from('203.0.113.3')),
      foreign: () => tracking.page(foreign, { ...from('203.0.113.4'), host: 'two.localhost' }),
    };
    const pages = new Set<string>();
    const times = new Map<string, number[]>();
    const names = Object.keys(kinds) as (keyof typeof kinds)[];
    for (let round = 0; round < 48; round += 1)
      for (const at of names.keys()) {
        // Each kind is asked as often first as last.
        const kind = names[(at + round) % names.length] ?? 'wrong';
        const startedMs = performance.now();
        const { status, html } = await kinds[kind]();
        times.set(kind, [...(times.get(kind) ?? []), performance.now() - startedMs]);
        pages.add(`${status} ${html}`);
      }
    expect(pages.size).toBe(1);
    expect([...pages][0]).toMatch(/^404 <!doctype html>/);
    // The share of pairs in which another kind took longer than a wrong key: one half if the times tell nothing.
    const wrong = times.get('wrong') ?? [];
    for (const kind of ['ended', 'foreign', 'short']) {
      const pairs = (times.get(kind) ?? []).flatMap((a) => wrong.map((b): number => (a > b ? 1 : 0)));
      const share = pairs.reduce((sum, each) => sum + each, 0) / pairs.length;
      expect([kind, share > 0.3 && share < 0.7, share]).toEqual([kind, true, share]);
    }
  },
  LIMIT_MS,
);

test('programs that do not ask for a page get the same failure as JSON', async () => {
  const api = makeApi(() => service);
  await api.anonymous
    .getTrackingPage({}, { path: { key: newKey() } })
    .refused(404, 'tracking_link_not_found');
});

test(
  '400 callers from 400 addresses leave the warehouse its scans, and are refused above the total',
  async () => {
    // In a process of its own, so that the callers do not take its time.
    const database = await demoDatabase();
    try {
      const { url } = await startReplica({
        DATABASE_URL: database.ownerUrl,
        TRUST_PROXY: '127.0.0.1',
        RUN_WORKER: 'false',
      });
      const headers = { authorization: `Bearer ${await logIn(url, 'warehouse')}` };
      const scan = async () => {
        const startedMs = performance.now();
        const body = { tracking_number: newNumber(), weight: 2 };
        const { status } = await ask(url, { method: 'POST', path: '/api/ReceivePackage.php', headers, body });
        expect(status).toBe(201);
        return performance.now() - startedMs;
      };
      for (let n = 0; n < 5; n += 1) await scan();
      const agent = new Agent({ keepAlive: true });
      /** Returns how long scans take meanwhile, and what the callers get. */
      const flood = async (pathOf: () => string) => {
        const state = { isOver: false };
        const statuses: number[] = [];
        const caller = async (n: number) => {
          while (!state.isOver) {
            const { status } = await ask(
              url,
              { path: pathOf(), ...from(`198.51.${n >> 8}.${n & 255}`) },
              agent,
            );
            statuses.push(status);
            await sleep(500);
          }
        };
        const callers = Array.from({ length: 400 }, (_, n) => caller(n));
        const times: number[] = [];
        while (statuses.length < 2_500 || times.length < 20) times.push(await scan());
        state.isOver = true;
        await Promise.all(callers);
        return { statuses, scanMs: median(times) };
      };
      const health = await flood(() => '/health');
      const pages = await flood(() => `/track/${newKey()}`);
      agent.destroy();
      const countOf = (status: number) => pages.statuses.filter((each) => each === status).length;
      expect([...new Set(pages.statuses)].filter((status) => ![404, 429, 503].includes(status))).toEqual([]);
      expect(countOf(404)).toBeGreaterThan(200);
      // At most those of two minutes.
      expect(countOf(404)).toBeLessThanOrEqual(2_400);
      expect(countOf(429) + countOf(503)).toBeGreaterThan(50);
      // A health check is the least that a request can cost.
      expect(pages.scanMs).toBeLessThan(3 * health.scanMs + 100);
    } finally {
      await endProcesses();
      await database.drop();
    }
  },
  LIMIT_MS,
);

test(
  'an address is refused after 240 pages in a minute, and others are not counted with it',
  async () => {
    const own = await startService({ env: { TRUST_PROXY: '127.0.0.1' } });
    try {
      const { page } = makeTracking(
        makeApi(() => own),
        () => own,
      );
      const statuses = await Promise.all(
        Array.from({ length: 300 }, async () => (await page(newKey(), from('2001:db8::1'))).status),
      );
      expect(statuses.filter((status) => status === 404)).toHaveLength(240);
      expect(statuses.filter((status) => status === 429)).toHaveLength(60);
      const { status, html, reply } = await page(newKey(), from('2001:db8::2'));
      expect([status, html.includes('Too many attempts')]).toEqual([429, true]);
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await page(newKey(), from('198.51.100.1'))).status).toBe(404);
    } finally {
      await own.stop();
    }
  },
  LIMIT_MS,
);
