import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { HELD_MS } from '../../../../generated/bounds.js';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { insertWithoutTriggers } from '../../../support/builders/many-rows.js';
import { logIn } from '../../../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../../../support/service/database.js';
import { startWatchedReplica } from '../../../support/attacks/watched-replica.js';
import { endProcesses, type Replica } from '../../../support/service/processes.js';

const PACKAGES = 10_000;
const PREVIEWED = 100_000;
/** Three bytes in UTF-8, as long as a description may be. */
const DESCRIPTION = '漢'.repeat(2_000);
const AT_ONCE = 8;
/** Without a limit of such pages, these took 500 MiB. */
const MAX_GROWTH_MIB = 250;
const { IEX, HRB } = DEMO.couriers;

let database: TestDatabase;
let owner: pg.Pool;
let replica: Replica;
let takeHeldMs: () => Promise<number>;
let manifestId: string;
/** Measurements, printed at the end. */
const figures: string[] = [];
const tokens: Record<string, string> = {};

beforeAll(async () => {
  database = await demoDatabase();
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 2 });
  ({ replica, takeHeldMs } = await startWatchedReplica(database.ownerUrl));
  for (const user of ['iex', 'warehouse', 'admin']) tokens[user] = await logIn(replica.url, user);
  manifestId = await newManifest();
  await insert(IEX, PACKAGES, { description: DESCRIPTION, manifestId });
  await insert(HRB, PREVIEWED, { description: null, manifestId: null });
  await owner.query('analyze packages');
}, 120_000);

afterAll(async () => {
  process.stdout.write(`${figures.join('\n')}\n`);
  await owner.end();
  await endProcesses();
  await database.drop();
});

type Filled = { description: string | null; manifestId: string | null };

const insert = (courierId: string, count: number, { description, manifestId: aboard }: Filled) =>
  insertWithoutTriggers(
    owner,
    `insert into packages (tenant_id, id, courier_id, user_code, first_name, last_name, tracking_number, tracking_key, house_number,
       weight_lb, shipper, description, manifest_id, warehouse_id, received_at)
     select $1, new_id(), $2, 'L-1', 'Marcia', 'Campbell', $3 || n, $3 || n, $3 || n, 1, 'Many', $4, $5, $6,
       '2021-05-01T00:00:00Z'::timestamptz + n * interval '1 second'
     from generate_series(1, $7::int) n`,
    [DEMO.tenants.demo, courierId, `L${count}-`, description, aboard, DEMO.warehouses.primary, count],
  );

async function newManifest(): Promise<string> {
  const { text } = await send('warehouse', '/api/CreateManifest.php', {});
  // The contract defines this shape.
  return (JSON.parse(text) as { data: { manifest_id: string } }).data.manifest_id;
}

type Received = { status: number; bytes: number; declared: number; text: string };

/** Sends a request and keeps only the first characters of the response. */
function send(as: string, path: string, body?: object): Promise<Received> {
  const headers = { authorization: `Bearer ${tokens[as]}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request(
      new URL(path, replica.url),
      { method: body ? 'POST' : 'GET', headers },
      (response) => {
        let [bytes, text] = [0, ''];
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (text.length < 1_000) text += chunk.toString('latin1', 0, 1_000);
        });
        const declared = Number(response.headers['content-length']);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes, declared, text }));
        response.on('error', reject);
      },
    );
    sent.on('error', reject).end(body && JSON.stringify(body));
  });
}

const rssMib = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${replica.child.pid}/status`, 'utf8'))?.[1]) / 1024;

const MAY = { start_date: '2021-05-01', end_date: '2021-05-31' };

/** So long a page waits for those before it (docs/limits.md). */
const MAX_WAIT_MS = 30_000;

const listAll = () => send('iex', '/api/RetrievePackages.php', { limit: PACKAGES });

const CASES: [string, number, () => Promise<Received>][] = [
  ['10,000 packages with descriptions of 2,000 characters of three bytes', 60_000_000, listAll],
  [
    'an invoice preview of 100,000 packages',
    10_000_000,
    () => send('admin', '/api/GenerateCourierInvoice.php', { courier_id: HRB, ...MAY }),
  ],
  [
    'a manifest of 10,000 packages',
    2_000_000,
    () => send('warehouse', `/api/GetManifest.php?id=${manifestId}`),
  ],
];

test.each(CASES)(
  `the response with %s is sent whole, and never holds the event loop for ${HELD_MS} ms`,
  async (what, leastBytes, call) => {
    const held: number[] = [];
    // The first call compiles, and the garbage collector may hold any.
    while (held.length < 4 && !held.some((ms) => ms < HELD_MS)) {
      await takeHeldMs();
      const { status, bytes, declared } = await call();
      held.push(await takeHeldMs());
      expect([status, declared]).toEqual([200, bytes]);
      expect(bytes).toBeGreaterThan(leastBytes);
    }
    figures.push(`${what}: held for ${held.map((ms) => ms.toFixed(0)).join(', ')} ms`);
    expect(Math.min(...held)).toBeLessThan(HELD_MS);
  },
  120_000,
);

/** On a slow machine the last pages wait for too long. Such a request is refused, not earlier, and its client repeats it. */
async function listUntilRead(): Promise<Received> {
  const sentMs = performance.now();
  const reply = await listAll();
  if (reply.status !== 503) return reply;
  expect(JSON.parse(reply.text)).toMatchObject({ code: 'overloaded' });
  expect(performance.now() - sentMs).toBeGreaterThan(MAX_WAIT_MS);
  return listUntilRead();
}

test(`${AT_ONCE} simultaneous pages of 60 MB of a courier are read one after the other`, async () => {
  const before = rssMib();
  let peak = before;
  const timer = setInterval(() => (peak = Math.max(peak, rssMib())), 20);
  const replies = await Promise.all(Array.from({ length: AT_ONCE }, listUntilRead));
  clearInterval(timer);
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
  figures.push(`${AT_ONCE} pages: RSS from ${before.toFixed(0)} to ${peak.toFixed(0)} MiB`);
  expect(peak - before).toBeLessThan(MAX_GROWTH_MIB);
}, 120_000);

test(`shipping a manifest of 10,000 packages with long texts never holds the event loop for ${HELD_MS} ms`, async () => {
  await owner.query("update couriers set api_url_update_package = 'https://receiver.example.com/update'");
  const another = await newManifest();
  await insert(IEX, PACKAGES - 1, { description: DESCRIPTION, manifestId: another });
  await owner.query(
    `update packages set user_code = repeat('漢', 100), tracking_number = rpad(tracking_number, 255, '漢') where manifest_id = any($1)`,
    [[manifestId, another]],
  );
  const held: number[] = [];
  for (const manifest_id of [manifestId, another])
    for (const status of ['ready', 'shipped', 'completed']) {
      const body = { action: 'update_meta', manifest_id, status };
      await takeHeldMs();
      expect((await send('warehouse', '/api/ManageManifest.php', body)).status).toBe(200);
      const heldMs = await takeHeldMs();
      // That a manifest is ready changes no package.
      if (status !== 'ready') held.push(heldMs);
    }
  const stored = await owner.query("select from events where type = 'package.status_changed'");
  expect(stored.rowCount).toBeGreaterThanOrEqual(2 * PACKAGES);
  figures.push(`shipping: held for ${held.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  // The garbage collector may hold some.
  expect(Math.min(...held)).toBeLessThan(HELD_MS);
}, 120_000);
