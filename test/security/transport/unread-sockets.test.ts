import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { projectRoot } from '../../../src/config/project-root.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { ask, logIn } from '../../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../../support/service/database.js';
import { rounds } from '../../support/harness/effort.js';
import { endProcesses, freePort, startReplica, type Replica } from '../../support/service/processes.js';

const LIMIT_MS = 120_000;
const MIB = 1024 * 1024;
/** Measured with 1,000 sockets: 63 KiB each with Node 20, and 137 KiB with Node 24, whose streams buffer 64 KiB instead of 16. */
const MAX_PER_SOCKET_BYTES = 160 * 1024;
const SPARE_BYTES = 32 * MIB;
/** The reported attack used 60 sockets, for which the old code needed 1.7 GiB. */
const SOCKETS = Number(process.env['UNREAD_SOCKETS'] ?? rounds(60, 1_000));
const LIST_SOCKETS = rounds(10, 60);
const REQUESTS_EACH = 20;

let database: TestDatabase;
let replica: Replica;
let metricsPort: number;
let memoryPort: number;
const sockets: Socket[] = [];

// All tests share one replica, because each test measures only the growth of its memory.
beforeAll(async () => {
  database = await demoDatabase();
  metricsPort = await freePort();
  memoryPort = await freePort();
  replica = await startReplica({
    DATABASE_URL: database.ownerUrl,
    RUN_WORKER: 'false',
    METRICS_PORT: String(metricsPort),
    MEMORY_WATCH_PORT: String(memoryPort),
    NODE_OPTIONS: `--import ${pathToFileURL(join(projectRoot, 'test/support/harness/memory-watch.mjs')).href}`,
  });
}, LIMIT_MS);

afterEach(closeSockets);

function closeSockets(): void {
  for (const socket of sockets.splice(0)) socket.destroy();
}

afterAll(async () => {
  await endProcesses();
  await database.drop();
}, LIMIT_MS);

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`;

test.each([
  ['the contract as JSON', '/openapi.json', SOCKETS],
  ['the contract as YAML', '/openapi.yaml', rounds(40, 200)],
  ['the code of the reference', '/docs/static/scalar.js', rounds(40, 200)],
  ['the document of the reference', '/docs/json', rounds(40, 200)],
])(
  'pipelined requests for %s without reading the responses need less than 160 KiB per socket',
  async (_name, path, count) => {
    const grownBytes = await growthDuring(get(path).repeat(REQUESTS_EACH), count);
    expect(await ask(replica.url, { path: '/health' })).toMatchObject({ status: 200 });
    expect(await ask(replica.url, { path: '/openapi.json' })).toMatchObject({ status: 200 });
    expect(grownBytes).toBeLessThan(SPARE_BYTES + count * MAX_PER_SOCKET_BYTES);
  },
  LIMIT_MS,
);

test(
  'pipelined requests for lists without reading the responses retain less than four of twenty responses',
  async () => {
    await lengthenDescriptions();
    const token = await logIn(replica.url);
    const authorization = `Authorization: Bearer ${token}\r\n`;
    const body = JSON.stringify({ limit: 10_000 });
    const list =
      `POST /api/RetrievePackages.php HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization}` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const manifest = get(`/api/GetManifest.php?id=${DEMO.manifests.shipped}`, authorization);
    const readList = () =>
      ask(replica.url, {
        method: 'POST',
        path: '/api/RetrievePackages.php',
        headers: { authorization: `Bearer ${token}` },
        raw: body,
      });
    // Connections to the database, and what they remember, are not a cost of the attack.
    const [first] = await Promise.all(Array.from({ length: LIST_SOCKETS }, readList));
    const responseBytes = first?.text.length ?? 0;
    expect(responseBytes).toBeGreaterThan(MIB);

    const beforeBytes = await retainedBytes();
    await growthDuring((list + manifest).repeat(REQUESTS_EACH / 2), LIST_SOCKETS);
    const grownBytes = (await retainedBytes()) - beforeBytes;
    process.stdout.write(
      `${LIST_SOCKETS} sockets, ${toMib(grownBytes)} MiB more after a garbage collection\n`,
    );
    expect(grownBytes).toBeLessThan(4 * LIST_SOCKETS * responseBytes);
  },
  LIMIT_MS,
);

/** Makes the list of the demo packages larger than 1 MiB. */
async function lengthenDescriptions(): Promise<void> {
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query("update packages set description = repeat('a parcel ', 250)");
  await owner.end();
}

const retainedBytes = async () => Number((await ask(`http://127.0.0.1:${memoryPort}`, { path: '/' })).text);

/** Returns the peak memory growth while `count` connections send `bytes` and read nothing. */
async function growthDuring(bytes: string, count: number): Promise<number> {
  // The first requests load code and data, which is not a cost of the attack.
  for (let n = 0; n < 3; n += 1) await ask(replica.url, { path: '/openapi.json' });
  const beforeBytes = await residentBytes();
  for (let opened = 0; opened < count; opened += 50) {
    const batch = Array.from({ length: Math.min(50, count - opened) }, () => openUnread(bytes));
    sockets.push(...(await Promise.all(batch)));
  }
  const peakBytes = await peakUntilIdle();
  const grownBytes = peakBytes - beforeBytes;
  process.stdout.write(
    `${count} sockets, ${REQUESTS_EACH} requests each, responses unread: ` +
      `${toMib(beforeBytes)} MiB before, ${toMib(peakBytes)} MiB at the peak, ${toMib(grownBytes)} MiB more\n`,
  );
  return grownBytes;
}

/** Watches the memory until the service has used almost no CPU for half a second, at most for eight seconds. */
async function peakUntilIdle(): Promise<number> {
  let peakBytes = 0;
  const used: number[] = [];
  for (let n = 0; n < 80; n += 1) {
    peakBytes = Math.max(peakBytes, await residentBytes());
    used.push(cpuTicks());
    if ((used.at(-1) ?? 0) - (used.at(-6) ?? -Infinity) <= 1) return peakBytes;
    await sleep(100);
  }
  return peakBytes;
}

/** Returns the CPU time of the service, usually in units of 10 ms. Without /proc, it never looks idle. */
function cpuTicks(): number {
  try {
    const stat = readFileSync(`/proc/${replica.child.pid}/stat`, 'utf8');
    const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14);
    return Number(user) + Number(system);
  } catch {
    return NaN;
  }
}

const toMib = (bytes: number) => (bytes / MIB).toFixed(1);

function openUnread(bytes: string): Promise<Socket> {
  const { hostname, port } = new URL(replica.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.pause();
      // A connection that the service closes is not a failure of the test.
      socket.removeAllListeners('error').on('error', () => {});
      socket.write(bytes, () => resolve(socket));
    });
    socket.pause().once('error', reject);
  });
}

/** Reads /proc if available, otherwise the process's own metric. */
async function residentBytes(): Promise<number> {
  try {
    const status = readFileSync(`/proc/${replica.child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
  } catch {
    const { text } = await ask(`http://127.0.0.1:${metricsPort}`, { path: '/metrics' });
    return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]);
  }
}
