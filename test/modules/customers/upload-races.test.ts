import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createApp } from '../../../src/app.js';
import { developmentConfig } from '../../support/staging/development.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeKeyedLimiter } from '../../../src/platform/limits/queues/keyed-limiter.js';
import { codeOf, logIn } from '../../support/service/client.js';
import { demoDatabase } from '../../support/service/database.js';
import { rounds } from '../../support/harness/effort.js';
import { longestBlockMs } from '../../support/harness/event-loop-block.js';
import { MULTIPART_TYPE, multipartBody, type FormFields } from '../../support/service/forms.js';
import { memoryOf } from '../../support/attacks/process-memory.js';
import { makeDice } from '../../support/attacks/mutations.js';
import { endProcesses, startReplica, until } from '../../support/service/processes.js';
import { auditMark, customersAudited } from '../../support/builders/bulk-audit.js';
import { untilAdmitted, type Reply } from '../../support/service/service.js';
import { sendRaw } from '../../support/service/wire.js';
import { withService } from '../../support/fixture/with-service.js';
import { multipart } from '../../support/fixture/sent.js';

const CONFIG = developmentConfig({ LOG_LEVEL: 'silent' });

const { api, service } = withService({ poolSize: 60 });
let since = '';

beforeEach(async () => {
  await service().owner.query("delete from customers where user_code like 'RACE-%'");
});

/** Rows of the file that all callers upload at once. */
const SHUFFLED = rounds(500, 5_000);
const SHUFFLED_UPLOADS = rounds(8, 20);

const HEADER = 'user_code,first_name,last_name,branch';
const codes = (count: number) => Array.from({ length: count }, (_, n) => `RACE-${n}`);

function shuffled(items: string[], seed: number): string[] {
  const dice = makeDice(seed);
  const copy = [...items];
  for (let n = copy.length - 1; n > 0; n -= 1) {
    const other = dice.below(n + 1);
    [copy[n], copy[other]] = [copy[other] ?? '', copy[n] ?? ''];
  }
  return copy;
}

const fileOf = (rows: string[]) => [HEADER, ...rows].join('\n');

const upload = (file: string, as = 'iex', target = '') =>
  api.as(as).uploadCustomers(multipart({ file: { file }, target_courier_id: target }));

function sendFile(url: string, token: string, form: FormFields) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': MULTIPART_TYPE };
  const body = multipartBody(form);
  return sendRaw(url, { method: 'POST', path: '/api/UploadCustomers.php', headers, body });
}

const sum = (replies: Reply[], key: string) =>
  replies.reduce((total, { body }) => total + Number(body['data'][key]), 0);

async function rowsOf(courierId: string) {
  const { rows } = await service().owner.query<{ user_code: string; first_name: string; branch: string }>(
    "select user_code, first_name, branch from customers where user_code like 'RACE-%' and courier_id = $1",
    [courierId],
  );
  return rows;
}

const auditsOf = (kind: 'created' | 'updated') => customersAudited(service().owner, kind, since);

/** Runs services with their own limiters on one database, like replicas. */
async function withReplicas<Result>(count: number, work: (url: string, n: number) => Promise<Result>) {
  const apps = await Promise.all(
    Array.from({ length: count }, () => createApp({ config: CONFIG, db: service().db })),
  );
  try {
    return await Promise.all(
      apps.map(async ({ server }, n) => work(await server.listen({ host: '127.0.0.1', port: 0 }), n)),
    );
  } finally {
    for (const { server } of apps) await server.close();
  }
}

const totalOf = (replies: { text: string }[], key: string) =>
  replies.reduce((total, { text }) => {
    // The contract defines this shape of a success.
    const { data } = JSON.parse(text) as { data: Record<string, number> };
    return total + (data[key] ?? 0);
  }, 0);

test(`${SHUFFLED_UPLOADS} simultaneous uploads of the same ${SHUFFLED} shuffled rows on separate replicas do not deadlock and leave the rows of one upload`, async () => {
  since = await auditMark(service().owner);
  const token = await service().tokenOf('iex');
  const replies = await withReplicas(SHUFFLED_UPLOADS, (url, n) => {
    // The names are equal. New search terms would cost ten times as much as the rows, and another test covers them.
    const file = fileOf(shuffled(codes(SHUFFLED), n).map((code) => `${code},Same,Name,By ${n}`));
    return sendFile(url, token, { file: { file } });
  });
  expect(replies.map(({ status }) => status)).toEqual(Array<number>(SHUFFLED_UPLOADS).fill(200));
  expect([totalOf(replies, 'created'), totalOf(replies, 'updated')]).toEqual([
    SHUFFLED,
    SHUFFLED * (SHUFFLED_UPLOADS - 1),
  ]);
  const rows = await rowsOf(DEMO.couriers.IEX);
  expect(rows).toHaveLength(SHUFFLED);
  expect(new Set(rows.map(({ branch }) => branch)).size).toBe(1);
  expect([await auditsOf('created'), await auditsOf('updated')]).toEqual([
    SHUFFLED,
    SHUFFLED * (SHUFFLED_UPLOADS - 1),
  ]);
}, 120_000);

test('20 simultaneous uploads on one replica by staff and the courier all succeed', async () => {
  const file = fileOf(codes(500).map((code) => `${code},Same,Name`));
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      untilAdmitted(() => (n % 2 ? upload(file) : upload(file, 'manager', DEMO.couriers.IEX)).answer()),
    ),
  );
  expect(replies.map(({ status }) => status)).toEqual(Array<number>(20).fill(200));
  expect([sum(replies, 'created'), sum(replies, 'unchanged')]).toEqual([500, 19 * 500]);
}, 60_000);

test('overlapping uploads on separate replicas lose no rows', async () => {
  const part = rounds(100, 500);
  const all = codes(8 * part);
  const token = await service().tokenOf('iex');
  const replies = await withReplicas(4, (url, n) => {
    const rows = shuffled(all.slice(n * part, (n + 5) * part), n).map((code) => `${code},By ${n},x`);
    return sendFile(url, token, { file: { file: fileOf(rows) } });
  });
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(await rowsOf(DEMO.couriers.IEX)).toHaveLength(8 * part);
  expect([totalOf(replies, 'created'), totalOf(replies, 'updated')]).toEqual([8 * part, 12 * part]);
}, 60_000);

test('customers written by others during an upload are written, counted and audited once', async () => {
  for (let round = 0; round < rounds(1, 5); round += 1) {
    await service().owner.query("delete from customers where user_code like 'RACE-%'");
    since = await auditMark(service().owner);
    const all = codes(3_000);
    const made = Promise.all(
      all
        .filter((_, n) => n % 100 === 50)
        .map((code) =>
          service().owner.query(
            `insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name)
             values ($1, gen_random_uuid(), $2, $3, 'Other', 'Way') on conflict do nothing`,
            [DEMO.tenants.demo, DEMO.couriers.IEX, code],
          ),
        ),
    );
    const reply = await upload(fileOf(shuffled(all, round).map((code) => `${code},Up,Load`))).ok();
    await made;
    const { created, updated } = reply.data;
    expect(created + updated).toBe(3_000);
    expect([await auditsOf('created'), await auditsOf('updated')]).toEqual([created, updated]);
    const rows = await rowsOf(DEMO.couriers.IEX);
    expect([rows.length, rows.filter(({ first_name }) => first_name === 'Up').length]).toEqual([
      3_000, 3_000,
    ]);
  }
}, 60_000);

test('other requests are served while 12 uploads run', async () => {
  const file = fileOf(codes(rounds(1_000, 5_000)).map((code) => `${code},Busy,Name`));
  const state = { isRunning: true };
  const uploads = Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      untilAdmitted(() => upload(file, 'manager', DEMO.couriers[n % 2 ? 'IEX' : 'HRB']).answer()),
    ),
  ).finally(() => (state.isRunning = false));
  const times: number[] = [];
  while (state.isRunning) {
    const started = performance.now();
    await api.as('warehouse').listPrealerts().ok();
    times.push(performance.now() - started);
  }
  expect((await uploads).map(({ status }) => status)).toEqual(Array<number>(12).fill(200));
  times.sort((a, b) => a - b);
  expect(times.length).toBeGreaterThan(10);
  expect(times[Math.floor(times.length * 0.9)]).toBeLessThan(1_000);
}, 60_000);

describe('keyed limiter', () => {
  test('runs one task per key, different keys in parallel, and rejects with 503 if the queue or the wait is too long', async () => {
    const limiter = makeKeyedLimiter({ concurrency: 2, maxWaiting: 3, maxWaitMs: 200, retryAfterSeconds: 5 });
    const open: Record<string, () => void> = {};
    const work = (key: string, name: string) =>
      limiter
        .run(key, () => new Promise<string>((resolve) => (open[name] = () => resolve(name))))
        .catch((error: unknown) => {
          const { code, detail } = error as { code: string; detail: unknown };
          return [code, detail];
        });
    const overloaded = ['overloaded', { retryAfterSeconds: 5 }];
    const [a1, a2, b1, c1] = [work('a', 'a1'), work('a', 'a2'), work('b', 'b1'), work('c', 'c1')];
    await nextTurn();
    expect(Object.keys(open)).toEqual(['a1', 'b1']);
    const a3 = work('a', 'a3');
    // The queue is full. Key a has the most waiting tasks, so its newest makes room for d.
    const d1 = work('d', 'd1');
    expect(await a3).toEqual(overloaded);
    open['b1']?.();
    expect(await b1).toBe('b1');
    await nextTurn();
    expect(Object.keys(open)).toEqual(['a1', 'b1', 'c1']);
    // Nothing finishes within the maximum wait.
    expect([await a2, await d1]).toEqual([overloaded, overloaded]);
    open['a1']?.();
    open['c1']?.();
    expect([await a1, await c1]).toEqual(['a1', 'c1']);
  });
});

const MANY = rounds(4_000, 100_000);

describe(`upload of ${MANY} rows`, () => {
  const file = fileOf(
    // Few different names, because another test covers the cost of the search index.
    codes(MANY).map((code, n) => `${code},First${n % 50},Last-${n % 7},Branch ${n % 9}`),
  );

  test('is stored, then unchanged, and the event loop stays responsive', async () => {
    const blockMs = await longestBlockMs(async () => {
      expect(await upload(file).answer()).toMatchObject({
        status: 200,
        body: { data: { processed: MANY, created: MANY } },
      });
      expect(await upload(file).answer()).toMatchObject({
        status: 200,
        body: { data: { processed: MANY, unchanged: MANY } },
      });
    });
    expect(await rowsOf(DEMO.couriers.IEX)).toHaveLength(MANY);
    // The test client shares this process.
    expect(blockMs).toBeLessThan(100);
  }, 120_000);
});

describe('memory of uploads', () => {
  // 16 uploads take 50 MiB. If their files were kept in memory, they would take 160 MiB more.
  const LARGE_UPLOADS = rounds(16, 100);
  const MORE_MIB = rounds(128, 256);
  const ROWS_AFTERWARDS = rounds(20_000, 100_000);

  afterEach(endProcesses);

  test(`${LARGE_UPLOADS} simultaneous uploads of 10 MiB, then one of ${ROWS_AFTERWARDS} rows, use at most ${MORE_MIB} MiB more and leave no file`, async () => {
    const database = await demoDatabase();
    try {
      const replica = await startReplica({ DATABASE_URL: database.ownerUrl });
      const token = await logIn(replica.url, 'iex');
      const pid = replica.child.pid ?? 0;
      const send = (text: string | Buffer) =>
        sendFile(replica.url, token, { file: { file: text }, dry_run: 'true' });
      expect((await send(HEADER)).status).toBe(200);
      const beforeKb = memoryOf(pid, 'VmRSS');
      const large = Buffer.alloc(10 * 1024 * 1024, `RACE-1,${'n'.repeat(99)},${'m'.repeat(99)}\n`);
      const replies = await Promise.all(
        Array.from({ length: LARGE_UPLOADS }, () => send(large).then(({ status }) => status, codeOf)),
      );
      // An upload that exceeds the request timeout ends with 408 or a closed connection.
      for (const reply of replies) expect([200, 408, 503, 'ECONNRESET', 'EPIPE']).toContain(reply);
      await until(async () => spooledBy(pid).length === 0);
      const rows = codes(ROWS_AFTERWARDS).map((code) => `${code},${'n'.repeat(40)},${'m'.repeat(40)}`);
      expect((await send(fileOf(rows))).status).toBe(200);
      expect(memoryOf(pid, 'VmHWM') - beforeKb).toBeLessThan(MORE_MIB * 1024);
    } finally {
      await endProcesses();
      await database.drop();
    }
  }, 180_000);

  const spooledBy = (pid: number) =>
    readdirSync(tmpdir()).filter((name) => name.startsWith(`crossdock-${pid}-`));
});
