import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { ask, logIn } from '../../../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../../../support/service/database.js';
import { endProcesses, startReplica, until, type Replica } from '../../../support/service/processes.js';
import { PLAIN } from './cookie-calls.js';

const LIMIT_MS = 120_000;
const PER_MINUTE = 100;

let database: TestDatabase;
let owner: pg.Client;
let replica: Replica;

beforeAll(async () => {
  database = await demoDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  replica = await startReplica({
    DATABASE_URL: database.ownerUrl,
    LOG_LEVEL: 'trace',
    RUN_WORKER: 'false',
    RATE_LIMIT_PER_MINUTE: String(PER_MINUTE),
  });
}, LIMIT_MS);

afterAll(async () => {
  await owner.end();
  await endProcesses();
  await database.drop();
}, LIMIT_MS);

/** Logs a demo user in. Returns the credentials of a program and of a browser with one session. */
async function bothOf(user: keyof typeof DEMO.users) {
  const token = await logIn(replica.url, user);
  const bearer = { authorization: `Bearer ${token}` };
  const started = await ask(replica.url, {
    method: 'POST',
    path: '/api/DeviceSession',
    headers: bearer,
    body: { action: 'start' },
  });
  const cookie = String(started.headers['set-cookie']).split(';')[0] ?? '';
  return {
    token,
    bearer,
    browser: { cookie, 'x-crossdock-user': DEMO.users[user], 'sec-fetch-site': 'same-origin' },
  };
}

test('a request with the cookie shares the rate limit and the idempotency keys of the user', async () => {
  const { bearer, browser } = await bothOf('iex');
  const create = (headers: Record<string, string>) =>
    ask(replica.url, {
      method: 'POST',
      path: '/api/ManagePrealerts.php',
      headers: { ...headers, 'idempotency-key': 'cookie-alike-1' },
      body: { user_code: 'IEX-1001', tracking_number: 'ALIKE0000001', vendor: 'Shop' },
    });
  const first = await create(bearer);
  const second = await create(browser);
  expect([first.status, second.status, second.text]).toEqual([201, 201, first.text]);
  expect(second.headers['idempotency-replayed']).toBe('true');
  const remaining = async (headers: Record<string, string>) => {
    const answer = await ask(replica.url, { path: '/api/Sessions.php', headers });
    return Number(/"requests";r=(\d+)/.exec(String(answer.headers['ratelimit']))?.[1]);
  };
  const before = await remaining(bearer);
  expect(before).toBeLessThan(PER_MINUTE);
  expect([await remaining(browser), await remaining(bearer)]).toEqual([before - 1, before - 2]);
});

test('the audit log names the user, as for a token', async () => {
  const { browser } = await bothOf('warehouse');
  const logOut = { method: 'POST', path: '/api/Sessions.php', headers: browser, body: { action: 'logout' } };
  expect((await ask(replica.url, logOut)).status).toBe(200);
  const { rows } = await owner.query(
    "select actor_id from audit_entries where action = 'user.logged_out' order by id desc limit 1",
  );
  expect(rows).toEqual([{ actor_id: DEMO.users.warehouse }]);
});

test('the log has the user and never the cookie, of accepted, refused and failed requests', async () => {
  const { token, browser } = await bothOf('manager');
  const { cookie } = browser;
  const answers = [
    await ask(replica.url, { path: '/api/Sessions.php', headers: browser }),
    await ask(replica.url, { path: '/api/Sessions.php', headers: { cookie } }),
    await ask(replica.url, { path: '/api/Nothing.php', headers: browser }),
    await ask(replica.url, {
      method: 'POST',
      path: '/api/Sessions.php',
      headers: browser,
      raw: '{"action":',
    }),
    await ask(replica.url, {
      path: '/api/Sessions.php',
      headers: { ...browser, cookie: `${PLAIN}=x${token}` },
    }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 404, 400, 401]);
  const isLogged = (id: unknown) =>
    replica
      .output()
      .split('\n')
      .some((line) => line.includes(String(id)) && line.includes('completed'));
  for (const { headers } of answers) await until(async () => isLogged(headers['x-request-id']), 10_000);
  expect(replica.output()).toContain(DEMO.users.manager);
  // The signature, and the claims that it signs.
  for (const part of token.split('.').slice(1)) {
    expect(replica.output()).not.toContain(part);
    for (const { text, headers } of answers) expect(text + JSON.stringify(headers)).not.toContain(part);
  }
});
