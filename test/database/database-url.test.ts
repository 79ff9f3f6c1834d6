import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { developmentConfig } from '../support/staging/development.js';
import { openDb } from '../../src/platform/db/open-database.js';
import { prepareDatabase } from '../../src/startup/prepare-database.js';
import { announce, countPrealerts } from '../support/service/client.js';
import { startOwnServer, type OwnServer } from '../support/service/postgres.js';
import { endProcesses, freePort, removeFolders, run, startReplica } from '../support/service/processes.js';
import { statusOf, until } from '../support/service/processes.js';

const LIMIT_MS = 60_000;
// The owner of an operator's own database: not a superuser, but able to create the roles of the migrations.
const OWNER = { user: 'operator', password: 'operator-password' };

let server: OwnServer;

beforeAll(async () => {
  server = await startOwnServer();
  await server.query(`create role ${OWNER.user} login nosuperuser createrole password '${OWNER.password}'`);
}, LIMIT_MS);

afterEach(endProcesses, LIMIT_MS);

afterAll(async () => {
  await server.stop();
  await removeFolders();
}, LIMIT_MS);

test(
  'of 2 replicas that start in parallel, 1 migrates and 1 loads the demo data, with an owner who is not a superuser',
  async () => {
    const DATABASE_URL = await makeDatabase('together');
    const replicas = await Promise.all([startReplica({ DATABASE_URL }), startReplica({ DATABASE_URL })]);
    const output = replicas.map((replica) => replica.output()).join('\n');
    expect(output.match(/Applied migrations/g)).toHaveLength(1);
    expect(output.match(/Loaded the demo data/g)).toHaveLength(1);

    const [first, second] = replicas;
    expect(await announce(first.url, 'SEEN-BY-BOTH')).toBe(201);
    expect(await countPrealerts(second.url, 'SEEN-BY-BOTH')).toBe(1);
    const endings = await Promise.all(replicas.map((replica) => replica.stop()));
    expect(endings.map(({ code }) => code)).toEqual([0, 0]);
  },
  LIMIT_MS,
);

test(
  'in development, the login of the owner uses a role that owns nothing and is subject to row-level security',
  async () => {
    const config = developmentConfig({ DATABASE_URL: await makeDatabase('stepped_down') });
    const { url, assumeRole = '' } = await prepareDatabase(config, () => undefined, true);
    const db = openDb({ url, size: 1, assumeRole, onError: () => undefined });
    const { rows } = await db.pool.query(
      'select session_user, current_user, (select count(*)::int from users)',
    );
    await db.close();
    expect(rows).toEqual([{ session_user: OWNER.user, current_user: 'crossdock_app', count: 0 }]);
  },
  LIMIT_MS,
);

test(
  '/ready returns 503 in the envelope while the database is down, and 200 within 2 s of its return',
  async () => {
    const DATABASE_URL = await makeDatabase('away');
    const replica = await startReplica({ DATABASE_URL });
    await server.shutDown();
    await until(async () => (await statusOf(`${replica.url}/ready`)) === 503);
    const away = await fetch(`${replica.url}/ready`);
    expect(await away.json()).toMatchObject({
      status: 'error',
      code: 'unavailable',
      request_id: away.headers.get('x-request-id'),
      timestamp: expect.any(Number),
    });
    expect(Number(away.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await statusOf(`${replica.url}/health`)).toBe(200);

    await server.restart();
    await until(async () => (await statusOf(`${replica.url}/ready`)) === 200, 2_000);
    expect(await announce(replica.url, 'AFTER-THE-RETURN')).toBe(201);
    await replica.stop();
  },
  LIMIT_MS,
);

test(
  'a database URL without a server gives one error line per attempt of 20 seconds without the password, and exit status 1',
  async () => {
    const port = await freePort();
    const url = `postgres://somebody:secret-word@127.0.0.1:${port}/nowhere`;
    const refused = run('src/main.js', { DATABASE_URL: url });
    expect(await refused.ended).toEqual({ code: 1, signal: null });
    expect(refused.output()).toMatch(
      /^(DATABASE_(OWNER_)?URL: .*ECONNREFUSED.* Trying again for 20 seconds\.\n){2}DATABASE_URL: .*ECONNREFUSED.*\n$/,
    );
    expect(refused.output()).not.toContain('secret-word');
  },
  LIMIT_MS,
);

async function makeDatabase(name: string): Promise<string> {
  await server.query(`create database ${name} owner ${OWNER.user}`);
  return server.urlOf(name, OWNER);
}
