import { Agent } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { findProgram, titleWith } from '../../support/harness/programs.js';
import { startProxy } from '../../support/rehearsal/proxy.js';
import { ask, askSteadily, codeOf, isServed, prealertOf } from '../../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../../support/service/database.js';
import { endProcesses, removeFolders, startReplica, until } from '../../support/service/processes.js';

// haproxy repeats no write without an Idempotency-Key after a 503, so a replica that stops must not answer one with 503.

const LIMIT_MS = 180_000;
const PER_SECOND = 40;
const missing = findProgram('haproxy') ? undefined : 'haproxy';

let database: TestDatabase;
let owner: pg.Client;

beforeAll(async () => {
  database = await demoDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
}, LIMIT_MS);

afterEach(endProcesses, LIMIT_MS);

afterAll(async () => {
  await owner.end();
  await database.drop();
  await removeFolders();
}, LIMIT_MS);

(missing ? test.skip : test)(
  titleWith('a rolling restart behind haproxy fails no write without a key, and executes each once', [
    missing,
  ]),
  async () => {
    const settings = { DATABASE_URL: database.ownerUrl, RUN_WORKER: 'false' };
    const replicas = [await startReplica(settings), await startReplica(settings)];
    const proxy = await startProxy(replicas.map(({ url }) => Number(new URL(url).port)));
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    const failed: unknown[] = [];
    const state = { isOver: false, served: 0 };
    const load = askSteadily(
      PER_SECOND,
      () => state.isOver,
      async (n) => {
        const outcome = await ask(proxy.url, prealertOf(`RESTART-${n}`), agent).catch(codeOf);
        if (isServed(outcome)) state.served += 1;
        else failed.push(typeof outcome === 'string' ? outcome : [outcome.status, outcome.text]);
      },
    );
    /** Waits until haproxy has answered so many more requests. It checks a replica each second. */
    const serve = async (seconds: number) => {
      const enough = state.served + seconds * PER_SECOND;
      await until(async () => state.served >= enough || failed.length > 0, 60_000);
    };
    await serve(1);
    for (const [index, replica] of replicas.entries()) {
      expect(await replica.stop()).toEqual({ code: 0, signal: null });
      await serve(1);
      replicas[index] = await startReplica({ ...settings, PORT: new URL(replica.url).port });
      // haproxy must see it too before the next one stops.
      await serve(4);
    }
    state.isOver = true;
    await load;
    expect(failed).toEqual([]);
    const { rows } = await owner.query(
      "select count(*)::int as count from prealerts where tracking_number like 'RESTART-%'",
    );
    expect(rows).toEqual([{ count: state.served }]);
    agent.destroy();
    await proxy.stop();
  },
  LIMIT_MS,
);
