import { Agent } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { growth, scrape, type Scrape } from '../../support/readers/exposition.js';
import { rounds } from '../../support/harness/effort.js';
import { ask, logIn, prealertOf, type Answer, type Question } from '../../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../../support/service/database.js';
import { endProcesses, freePort, until, type Replica } from '../../support/service/processes.js';
import { childrenOf, openLines, startServer, type Line } from '../../support/fixture/server-processes.js';

// Two processes of a server behave as one: what one of them changes holds in the other at once.

const LIMIT_MS = 120_000;
const REQUESTS = 'crossdock_http_requests_total';

let database: TestDatabase;
let owner: pg.Client;
let server: Replica;
let metricsPort: number;
let lines: [Line, Line];
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

beforeAll(async () => {
  database = await demoDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  metricsPort = await freePort();
  server = await startServer({ DATABASE_URL: database.ownerUrl, METRICS_PORT: String(metricsPort) });
  lines = (await openLines(server)) as [Line, Line];
}, LIMIT_MS);

afterAll(async () => {
  for (const line of lines) line.close();
  agent.destroy();
  await endProcesses();
  await owner.end();
  await database.drop();
}, LIMIT_MS);

const as = (token: string, question: Question): Question => ({
  ...question,
  headers: { authorization: `Bearer ${token}`, ...question.headers },
});

const codeOf = ({ text }: Answer): string => (JSON.parse(text) as { code: string }).code;

test(
  'a user that is disabled through one process is refused by the other one at once',
  async () => {
    const admin = await logIn(server.url);
    for (const [one, other] of [lines, lines.toReversed()] as [Line, Line][]) {
      const user = await logIn(server.url, 'hrb');
      const profile = as(user, { path: '/api/CourierSettingsAPI.php' });
      const change = async (action: 'enable' | 'disable') =>
        (
          await one.ask(
            as(admin, {
              method: 'POST',
              path: '/api/ManageUsers.php',
              body: { action, user_id: DEMO.users.hrb },
            }),
          )
        ).status;
      expect((await other.ask(profile)).status).toBe(200);
      expect(await change('disable')).toBe(200);
      expect(codeOf(await other.ask(profile))).toBe('account_disabled');
      expect(await change('enable')).toBe(200);
    }
  },
  LIMIT_MS,
);

test(
  'a key that is regenerated through one process is refused by the other one at once',
  async () => {
    const user = await logIn(server.url, 'iex');
    let key: string = DEMO.apiKeys.IEX;
    for (let n = 0; n < 6; n += 1) {
      const [one, other] = n % 2 === 0 ? lines : lines.toReversed();
      const submit = () =>
        other?.ask({ ...prealertOf(`REVOKED-${n}-${key.slice(0, 4)}`), headers: { 'x-api-key': key } });
      expect((await submit())?.status).toBe(201);
      const replaced = await one?.ask(
        as(user, { method: 'POST', path: '/api/CourierSettingsAPI.php', body: { action: 'regenerate_key' } }),
      );
      expect(replaced?.status).toBe(200);
      expect((await submit())?.status).toBe(403);
      // The contract defines this shape.
      key = (JSON.parse(replaced?.text ?? '') as { data: { api_key: string } }).data.api_key;
    }
  },
  LIMIT_MS,
);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const CALLERS = rounds(100, 300);

test(
  `of ${CALLERS} submissions of one number to both processes one is stored, and of different numbers all`,
  async () => {
    const submit = (number: string) =>
      ask(
        server.url,
        {
          ...prealertOf(number),
          headers: { 'x-api-key': DEMO.apiKeys.HRB },
          body: { UserCode: 'HRB-2001', TrackingNumber: number },
        },
        agent,
      );
    const same = await Promise.all(Array.from({ length: CALLERS }, () => submit('SPREAD-SAME')));
    expect(same.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(same.filter(({ status }) => status === 409)).toHaveLength(CALLERS - 1);
    const different = await Promise.all(Array.from({ length: CALLERS }, (_, n) => submit(`SPREAD-${n}`)));
    expect(different.filter(({ status }) => status !== 201)).toEqual([]);
    // The log of both processes has whole lines.
    const torn = server
      .output()
      .split('\n')
      .slice(0, -1)
      .filter((line) => /"level":/.test(line) && !isJson(line));
    expect(torn).toEqual([]);
    const { rows } = await owner.query(
      `select count(*)::int as stored,
       (select count(*)::int from audit_entries where action = 'prealert.created' and entity_id in
         (select id from prealerts where tracking_number like 'SPREAD-%')) as audited
     from prealerts where tracking_number like 'SPREAD-%'`,
    );
    expect(rows).toEqual([{ stored: CALLERS + 1, audited: CALLERS + 1 }]);
  },
  LIMIT_MS,
);

test(
  'metrics are the sum of both processes, and do not fall when one of them ends',
  async () => {
    const before = await scrape(metricsPort);
    await Promise.all(
      lines.flatMap((line) => Array.from({ length: 30 }, () => line.ask({ path: '/health' }))),
    );
    const counted = async (): Promise<[Scrape, number]> => {
      const now = await scrape(metricsPort);
      return [now, growth(before, now, REQUESTS)['{operation="getHealth",status="200"}'] ?? 0];
    };
    await until(async () => (await counted())[1] === 60);
    const [busy] = await counted();
    const [victim = 0] = childrenOf(server, 'api');
    process.kill(victim, 'SIGKILL');
    // Each scrape of the time without the process, and with another one, has at least what the one before had.
    let last = busy;
    const fallen: string[] = [];
    await until(async () => {
      const now = await scrape(metricsPort);
      for (const [series, value] of now.values)
        if (/^crossdock_\w+_(total|count|bucket)\b/.test(series) && value < (last.values.get(series) ?? 0))
          fallen.push(series);
      last = now;
      const running = childrenOf(server, 'api');
      return (
        running.length === 2 &&
        !running.includes(victim) &&
        now.values.get('crossdock_pool_connections_max{pool="service"}') === 10
      );
    }, 60_000);
    expect(fallen).toEqual([]);
    expect((await counted())[1]).toBeGreaterThanOrEqual(60);
    expect(last.values.get('crossdock_database_up')).toBe(1);
    expect(last.values.get('crossdock_build_info{version="1.1.0"}')).toBe(1);
  },
  LIMIT_MS,
);
