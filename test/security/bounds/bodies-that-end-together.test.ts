import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { HELD_MS } from '../../../generated/bounds.js';
import { projectRoot } from '../../../src/config/project-root.js';
import { hasReadAll, holdBody, type HeldBody } from '../../support/attacks/held-bodies.js';
import { demoDatabase, type TestDatabase } from '../../support/service/database.js';
import { logIn } from '../../support/service/client.js';
import {
  endProcesses,
  freePort,
  startReplica,
  until,
  type Replica,
} from '../../support/service/processes.js';

// Bodies that arrive at the same moment are concatenated, parsed, hashed and validated one after the other, with turns for others.

const BODY_BYTES = 1024 * 1024;
const USERS = ['admin', 'manager', 'warehouse', 'iex', 'hrb'];

let database: TestDatabase;
let replica: Replica;
let watch: string;
const tokens: string[] = [];

beforeAll(async () => {
  database = await demoDatabase();
  const port = String(await freePort());
  watch = `http://127.0.0.1:${port}`;
  replica = await startReplica({
    DATABASE_URL: database.ownerUrl,
    RUN_WORKER: 'false',
    LOOP_WATCH_PORT: port,
    NODE_OPTIONS: `--import ${pathToFileURL(join(projectRoot, 'test/support/harness/loop-watch.mjs')).href}`,
  });
  for (const username of USERS) tokens.push(await logIn(replica.url, username));
});

afterAll(async () => {
  await endProcesses();
  await database.drop();
});

/** Returns the longest time that the service's event loop was blocked since the last call. */
const takeBlockedMs = async (): Promise<number> => Number(await (await fetch(watch)).text());

/** As many values as the service accepts, in the largest body. */
const texts = (count: number) => Array.from({ length: count }, (_, n) => `${n}`.padStart(48, 'x'));
const listed = Buffer.from(JSON.stringify({ limit: 1, x: texts(19_000) }).padEnd(BODY_BYTES));
const line = (n: number) =>
  JSON.stringify({ UserCode: 'NOBODY', TrackingNumber: `END-${n}`, x: texts(20) }).padEnd(1_020);
const lines = Buffer.from(Array.from({ length: 1_000 }, (_, n) => line(n)).join('\n'));

const KINDS: [number, string, (n: number) => HeldBody][] = [
  [
    60,
    'JSON bodies',
    (n) => ({
      path: '/api/RetrievePackages.php',
      headers: {
        authorization: `Bearer ${tokens[n % tokens.length]}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: listed,
    }),
  ],
  [
    30,
    'bodies of lines',
    (n) => ({
      path: '/api/Prealert.php',
      headers: {
        'x-api-key': n % 2 === 0 ? DEMO.apiKeys.IEX : DEMO.apiKeys.HRB,
        'content-type': 'application/x-ndjson',
        'idempotency-key': randomUUID(),
      },
      body: lines,
    }),
  ],
];

test.each(KINDS)(
  `%i %s of 1 MiB that end together hold the event loop for less than ${HELD_MS} ms`,
  async (count, name, makeBody) => {
    let least = Infinity;
    const statuses = new Set<number | undefined>();
    for (let tries = 0; tries < 3 && least >= HELD_MS; tries += 1) {
      const held = await Promise.all(
        Array.from({ length: count }, (_, n) => holdBody(replica.url, makeBody(n))),
      );
      await until(() => Promise.resolve(hasReadAll(replica.url)));
      await takeBlockedMs();
      // Stopped, the service finds all ends at once.
      replica.child.kill('SIGSTOP');
      await Promise.all(held.map(({ end }) => end()));
      replica.child.kill('SIGCONT');
      const replies = await Promise.all(held.map(({ reply }) => reply));
      least = Math.min(least, await takeBlockedMs());
      for (const each of replies) statuses.add(each?.status);
      process.stdout.write(`${count} ${name}: ${least.toFixed(0)} ms\n`);
    }
    expect([...statuses]).toEqual([200]);
    expect(least).toBeLessThan(HELD_MS);
  },
  120_000,
);
