import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startOwnServer, type OwnServer } from '../../support/service/postgres.js';
import { ask } from '../../support/service/client.js';
import {
  endProcesses,
  removeFolders,
  startReplica,
  until,
  type Replica,
} from '../../support/service/processes.js';

const LIMIT_MS = 120_000;

let server: OwnServer;
let replica: Replica;

beforeAll(async () => {
  server = await startOwnServer();
  await server.query('create database crossdock');
  replica = await startReplica({
    DATABASE_URL: server.urlOf('crossdock'),
    MIGRATE_AT_START: 'true',
    RUN_WORKER: 'false',
    LOG_LEVEL: 'info',
  });
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await server.stop();
  await removeFolders();
}, LIMIT_MS);

type Line = {
  level: number;
  msg: string;
  operationId?: string;
  err?: object;
  cause?: string;
  reason?: string;
};

const lines = (): Line[] =>
  replica
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);

const ready = async () => {
  const { status, text } = await ask(replica.url, { path: '/ready' });
  return { status, body: JSON.parse(text) as { code: string; message: string } };
};

test(
  'a server whose database is away says so, and the log has one line without a stack, however often it is asked',
  async () => {
    expect(await ready()).toMatchObject({ status: 200 });
    const { port } = new URL(server.urlOf('postgres'));
    await server.shutDown();
    await until(async () => (await ready()).status === 503);
    const answers = [];
    // More than the cache of a second hides.
    const endsMs = performance.now() + 3_500;
    while (performance.now() < endsMs) answers.push(await ready());
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.code} ${body.message}`))).toEqual(
      new Set(['503 unavailable The database does not respond. Send the request again after Retry-After.']),
    );
    expect(JSON.stringify(answers)).not.toContain(port);
    const problems = () =>
      lines().filter(({ level, operationId }) => level >= 50 && operationId === 'getReadiness');
    const unready = () => lines().filter(({ msg }) => msg === 'the server is not ready');
    expect([problems(), unready()]).toEqual([
      [],
      [expect.objectContaining({ level: 50, reason: 'not_responding', cause: expect.stringMatching(/\S/) })],
    ]);
    expect(unready()[0]).not.toHaveProperty('err');

    await server.restart();
    await until(async () => (await ready()).status === 200);
    await until(async () => lines().some(({ msg }) => msg === 'the server is ready again'));
    expect(unready()).toHaveLength(1);
  },
  LIMIT_MS,
);
