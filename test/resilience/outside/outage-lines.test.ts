import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { recordOutages } from '../../../src/platform/logging/outages.js';
import { startOwnServer, type OwnServer } from '../../support/service/postgres.js';
import {
  endProcesses,
  removeFolders,
  startReplica,
  until,
  type Replica,
} from '../../support/service/processes.js';

// What the log says while something fails each second. unready-lines.test.ts has the lines of /ready.

const LIMIT_MS = 120_000;

let server: OwnServer;
let replica: Replica;

beforeAll(async () => {
  server = await startOwnServer();
  await server.query('create database crossdock');
  replica = await startReplica({
    DATABASE_URL: server.urlOf('crossdock'),
    MIGRATE_AT_START: 'true',
    RUN_WORKER: 'true',
    WORKER_HEARTBEAT_SECONDS: '1',
    LOG_LEVEL: 'info',
  });
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await server.stop();
  await removeFolders();
}, LIMIT_MS);

/** Returns the level and the text of each line of the queue, in their order. */
const queueLines = (): string[] =>
  replica
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { level: number; msg: string })
    .filter(({ msg }) => /fetching jobs|notify listener|[Qq]ueue|heartbeat|reset locked/.test(msg))
    .map(({ level, msg }) => `${level} ${msg}`);

test(
  'a worker whose database is away has one line of level 50 for several seconds, and one when it works again',
  async () => {
    await server.shutDown();
    await until(() => Promise.resolve(queueLines().length > 0));
    // Five polls and five heartbeats.
    await sleep(5_000);
    expect(queueLines()).toEqual([expect.stringMatching(/^50 \S/)]);
    await server.restart();
    await until(() => Promise.resolve(queueLines().length > 1));
    expect(queueLines()).toEqual([
      expect.stringMatching(/^50 \S/),
      expect.stringMatching(/^30 The queue works again, after ([5-9]|\d\d) failures\.$/),
    ]);
  },
  LIMIT_MS,
);

test('a failure is repeated once per minute with a count, and at once for another reason', () => {
  let nowMs = 0;
  const lines: string[] = [];
  const record = recordOutages<{ reason: string }>(
    {
      failed: ({ reason }, count) => lines.push(`${nowMs / 1_000} s: ${reason}, ${count}`),
      ended: (count) => lines.push(`${nowMs / 1_000} s: ended, ${count}`),
    },
    () => nowMs,
  );
  record(undefined);
  for (; nowMs < 130_000; nowMs += 1_000) record({ reason: nowMs < 125_000 ? 'away' : 'full' });
  record(undefined);
  record(undefined);
  record({ reason: 'away' });
  expect(lines).toEqual([
    '0 s: away, 1',
    '60 s: away, 60',
    '120 s: away, 60',
    '125 s: full, 5',
    '130 s: ended, 130',
    '130 s: away, 1',
  ]);
});
