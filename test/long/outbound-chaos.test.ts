import { Agent } from 'node:http';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { openSecrets } from '../../src/platform/access/secrets.js';
import { developmentConfig } from '../support/staging/development.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { ask, codeOf, logIn, type Question } from '../support/service/client.js';
import { startOwnServer, type OwnServer } from '../support/service/postgres.js';
import {
  endProcesses,
  removeFolders,
  run,
  startReplica,
  until,
  type Replica,
  type Running,
} from '../support/service/processes.js';
import { startReceiver, verified, type Received, type Receiver } from '../support/receivers/receiver.js';
import { setEndpoints, webhookSecret } from '../support/receivers/webhooks.js';

const COURIERS = 10;
const WORKERS = 4;
// `npm run chaos` sets larger numbers
const KILLS = Number(process.env['CHAOS_KILLS'] ?? 10);
const KILLS_PER_RESTART = Number(process.env['CHAOS_KILLS_PER_RESTART'] ?? 5);
/** Events per kill, created in three ways. */
const PER_KILL = 2;
const DISPATCHED = 50 * PER_KILL;
const SHIPPED = 30 * PER_KILL;
const SCANNED = 20 * PER_KILL;
const EVENTS = KILLS * (DISPATCHED + SHIPPED + SCANNED);
/** Deliveries that must arrive before the next kill, so that the workers are busy. */
const MIN_ARRIVALS = 20;

const LIMIT_MS = 180_000 + KILLS * 6_000;
/**
 * Time for the last delivery. A delivery queue whose job failed with the database is retried with a growing
 * delay, or woken by the requeue job within a minute. Then come three missed heartbeats of a dead worker and
 * the half minute of its claims.
 */
const SETTLE_MS = 150_000;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
let server: OwnServer;
let replica: Replica;
let receiver: Receiver;
let owner: pg.Pool;
let token: string;
let workers: Running[];

beforeAll(async () => {
  server = await startOwnServer();
  await server.query('create database crossdock');
  replica = await startReplica({ DATABASE_URL: server.urlOf('crossdock'), RUN_WORKER: 'false' });
  lowerPriority(replica);
  owner = new pg.Pool({ connectionString: server.urlOf('crossdock'), max: 4 });
  owner.on('error', () => undefined).on('connect', (client) => client.on('error', () => undefined));
  // A slow receiver, so that many deliveries are in flight at any time.
  receiver = await startReceiver((request, response) => {
    contents.set(request, contentOf(request));
    setTimeout(() => response.writeHead(204).end(), 20 + Math.random() * 60);
  });
  token = await logIn(replica.url);
  workers = Array.from({ length: WORKERS }, startWorker);
}, LIMIT_MS);

afterAll(async () => {
  agent.destroy();
  await endProcesses();
  await owner.end();
  await receiver.stop();
  await server.stop();
  await removeFolders();
}, LIMIT_MS);

/** What each request contained, read when it arrived: after five minutes its signature is too old. */
const contents = new Map<Received, unknown>();

function contentOf(request: Received): unknown {
  try {
    return verified(webhookSecret('s'), request);
  } catch (error) {
    return error;
  }
}

/** Lowers the priority, so that tests that run in parallel keep their timing. */
function lowerPriority(program: Running): Running {
  if (program.child.pid !== undefined) setPriority(program.child.pid, 5);
  return program;
}

const startWorker = () =>
  lowerPriority(
    run('src/worker.js', {
      DATABASE_URL: server.urlOf('crossdock'),
      LOG_LEVEL: 'silent',
      OUTBOUND_ALLOW_LOOPBACK: 'true',
      OUTBOUND_REQUESTS_PER_SECOND: '100000',
      WORKER_HEARTBEAT_SECONDS: '2',
      // A late response on a busy machine must not delay the retry by minutes.
      WEBHOOK_RETRY_SECONDS: Array(10).fill('1').join(','),
      // so that no worker owns all delivery queues
      WORKER_CONCURRENCY: '6',
    }),
  );

test(
  `${EVENTS} events, ${KILLS} killed workers, and a restart of PostgreSQL after every ${KILLS_PER_RESTART} of them: every event arrives, and only those in flight arrive again`,
  async () => {
    const couriers = await makeCouriers();
    const dispatched = await makePackages(couriers, KILLS * DISPATCHED, 'DISPATCHED');
    const shipped = await makePackages(couriers, KILLS * SHIPPED, 'SHIPPED');
    const load: Promise<unknown>[] = [];
    const inFlight = new Map<string, Set<number>>();

    for (let kill = 1; kill <= KILLS; kill += 1) {
      load.push(dispatch(dispatched.splice(0, DISPATCHED)), ship(shipped.splice(0, SHIPPED)), scan(couriers));
      const before = receiver.received.length;
      await until(async () => receiver.received.length >= before + MIN_ARRIVALS);
      await sleep(Math.random() * 200);
      const victim = await pickWorker();
      victim.child.kill('SIGKILL');
      await victim.ended;
      recordClaims(inFlight, await readClaims());
      workers[workers.indexOf(victim)] = startWorker();
      if (kill % KILLS_PER_RESTART === 0) {
        await server.shutDown();
        await server.restart();
        recordClaims(inFlight, await readClaims());
      }
    }
    await Promise.all(load);
    await until(async () => (await count(OPEN)) === 0, SETTLE_MS);

    const { rows } = await owner.query<{ id: string }>('select id from events');
    const times = new Map<string, number>();
    for (const request of receiver.received) {
      const id = request.headers['webhook-id'] ?? '';
      times.set(id, (times.get(id) ?? 0) + 1);
      expect(contents.get(request)).toMatchObject({ event_id: id });
    }
    expect(rows).toHaveLength(EVENTS);
    expect(rows.filter(({ id }) => !times.has(id))).toEqual([]);
    expect(times.size).toBe(rows.length);
    // Events arrived again if they were in flight at a crash, at most once per crash, or if the response came
    // too late.
    const late = await failedAttempts();
    for (const [id, number] of times)
      expect(number).toBeLessThanOrEqual(1 + (inFlight.get(id)?.size ?? 0) + (late.get(id) ?? 0));
    const again = receiver.received.length - times.size;
    expect(again).toBeGreaterThan(0);
    if (process.env['CHAOS_KILLS'])
      process.stdout.write(
        `${again} deliveries arrived again, of ${inFlight.size} that were in flight at a crash.\n`,
      );
    expect(await count("webhook_deliveries where status <> 'delivered'")).toBe(0);
    expect(await count("package_syncs where status <> 'sent'")).toBe(0);
    // Sequence numbers have no gaps.
    const { rows: gaps } = await owner.query(
      `select courier_id from events group by courier_id having max(sequence) <> count(*) or min(sequence) <> 1`,
    );
    expect(gaps).toEqual([]);
  },
  LIMIT_MS,
);

async function makeCouriers(): Promise<string[]> {
  const secrets = openSecrets(developmentConfig({}).secrets);
  const { rows } = await owner.query<{ id: string }>(
    `insert into couriers (tenant_id, id, code, name)
     select $1, gen_random_uuid(), 'CHAOS' || n, 'Courier ' || n from generate_series(1, $2) n returning id`,
    [DEMO.tenants.demo, COURIERS],
  );
  const urls = { add: `${receiver.url}/add`, update: `${receiver.url}/update` };
  for (const { id } of rows) await setEndpoints({ owner, secrets }, { courierId: id, ...urls });
  return rows.map(({ id }) => id);
}

async function makePackages(couriers: string[], number: number, prefix: string): Promise<string[]> {
  const { rows } = await owner.query<{ id: string }>(
    `insert into packages (tenant_id, id, courier_id, tracking_number, tracking_key, house_number, weight_lb, warehouse_id)
     select $1, gen_random_uuid(), ($2::uuid[])[1 + n % $3::int], $4::text || n, $4::text || n, $4::text || n, 1,
       (select id from warehouses where tenant_id = $1 and is_primary)
     from generate_series(1, $5::int) n returning id`,
    [DEMO.tenants.demo, couriers, couriers.length, prefix, number],
  );
  return rows.map(({ id }) => id);
}

async function dispatch(package_ids: string[]): Promise<void> {
  await retryUntilSuccess('/api/RetrievePackages.php', { action: 'queue_dispatch', package_ids });
}

/** Ships the packages on a manifest of their own. */
async function ship(package_ids: string[]): Promise<void> {
  const { manifest_id } = await retryUntilSuccess('/api/CreateManifest.php', {});
  const manage = (body: object) => retryUntilSuccess('/api/ManageManifest.php', { manifest_id, ...body });
  await manage({ action: 'add_packages', package_ids });
  for (const status of ['ready', 'shipped']) await manage({ action: 'update_meta', status });
}

let scans = 0;
async function scan(couriers: string[]): Promise<void> {
  for (let n = 0; n < SCANNED; n += 1) {
    const tracking_number = `SCANNED-${(scans += 1)}`;
    const courier_id = couriers[scans % couriers.length];
    await retryUntilSuccess('/api/ReceivePackage.php', { tracking_number, weight: 1, courier_id });
  }
}

/** Repeats the request until it succeeds, as a client does after 503 or a broken connection. */
async function retryUntilSuccess(path: string, body: object): Promise<{ manifest_id?: string }> {
  const headers = { authorization: `Bearer ${token}` };
  const request: Question = { method: 'POST', path, headers, body };
  for (;;) {
    const outcome = await ask(replica.url, request, agent).catch(codeOf);
    if (typeof outcome !== 'string' && outcome.status < 300) return dataOf(outcome.text);
    if (typeof outcome !== 'string' && outcome.status !== 503) throw new Error(JSON.stringify(outcome));
    await sleep(200);
  }
}

// The contract defines this shape of a success; only the manifest's id is read.
const dataOf = (text: string) => (JSON.parse(text) as { data?: { manifest_id?: string } }).data ?? {};

async function count(what: string): Promise<number> {
  const ask = () => owner.query<{ n: number }>(`select count(*)::int as n from ${what}`);
  // A pooled connection that a restart broke fails on its next use.
  const { rows } = await ask().catch(() => ask());
  return rows[0]?.n ?? -1;
}

/** Pending deliveries and synchronisations. */
const OPEN = `(select id from webhook_deliveries where status = 'pending'
  union all select package_id from package_syncs where status in ('queued', 'sending')) as waiting`;

/**
 * Returns the attempts per event that ended without a timely response, which the receiver may nevertheless
 * have received.
 */
async function failedAttempts(): Promise<Map<string, number>> {
  const { rows } = await owner.query<{ event_id: string; n: number }>(
    `select event_id, count(*)::int as n from webhook_attempts a join webhook_deliveries d on d.id = a.delivery_id
     where outcome <> 'delivered' group by event_id`,
  );
  return new Map(rows.map(({ event_id, n }) => [event_id, n]));
}

type Claim = { event_id: string; claimed_until: Date };

/** Returns the deliveries that a worker, dead or alive, has claimed. */
async function readClaims(): Promise<Claim[]> {
  const ask = () =>
    owner.query<Claim>(
      "select event_id, claimed_until from webhook_deliveries where status = 'pending' and claimed_until > now()",
    );
  return (await ask().catch(() => ask())).rows;
}

/** Records each claim once, however often it is read. */
function recordClaims(seen: Map<string, Set<number>>, claims: Claim[]): void {
  for (const { event_id, claimed_until } of claims)
    seen.set(event_id, (seen.get(event_id) ?? new Set()).add(claimed_until.getTime()));
}

/** Returns a random worker that has started to work. */
async function pickWorker(): Promise<Running> {
  const working = () => workers.filter((worker) => worker.output().includes('worker is running'));
  await until(async () => working().length > 0);
  const [first, ...rest] = working();
  const victim = [first, ...rest][Math.floor(Math.random() * (1 + rest.length))];
  if (!victim) throw new Error('No worker works.');
  return victim;
}
