import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { operations } from '../../generated/operations.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { packageVersion, projectRoot } from '../../src/config/project-root.js';
import { demoDatabase } from '../support/service/database.js';
import { growth, keyOf, scrape as scrapePort, type Scrape } from '../support/readers/exposition.js';
import {
  endProcesses,
  freePort,
  removeFolders,
  run,
  startReplica,
  statusOf,
  until,
} from '../support/service/processes.js';
import { startService, type Service } from '../support/service/service.js';
import { openSocket, receive, sendRaw, talk } from '../support/service/wire.js';
import { matching } from '../support/assertions/matching.js';

const REQUESTS = 'crossdock_http_requests_total';
const SECONDS = 'crossdock_http_request_duration_seconds';
const IN_FLIGHT = 'crossdock_http_requests_in_flight';

let service: Service;
let metricsPort: number;
const scrape = () => scrapePort(metricsPort);
const metricsUrl = (path: string) => `http://127.0.0.1:${metricsPort}${path}`;

beforeAll(async () => {
  service = await startService({
    env: { METRICS_PORT: '0' },
    poolSize: 3,
    timeouts: { headersMs: 300, requestMs: 600 },
  });
  metricsPort = service.metrics?.port ?? 0;
});

afterEach(endProcesses);

afterAll(async () => {
  await service.stop();
  await removeFolders();
});

/** Returns the requests that `work` adds to the counters, once all of them have ended. */
async function countedBy(work: () => Promise<unknown>, total: number): Promise<Record<string, number>> {
  const before = await scrape();
  await work();
  let after: Scrape = before;
  const counted = () => Object.values(growth(before, after, REQUESTS)).reduce((sum, n) => sum + n, 0);
  await until(async () => {
    after = await scrape();
    return counted() >= total;
  });
  return growth(before, after, REQUESTS);
}

const label = (operation: string, status: number | 'aborted') =>
  keyOf('', { operation, status: String(status) });

const LOGIN = 'POST /api/login.php HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

describe('each request is counted once, by operation and status', () => {
  test('handled requests and those rejected by credentials, schema, path or method', async () => {
    const work = async () => {
      for (let n = 0; n < 7; n += 1) await service.call('getHealth');
      await service.call('listPrealerts', { as: 'admin' });
      await service.call('listPrealerts', { as: 'admin', query: { limit: 501 } });
      await service.call('listPrealerts');
      await service.call('receivePackage', { as: 'iex', body: {} });
      await service.call('submitPrealert', { key: DEMO.apiKeys.IEX, body: '{' });
      await service.call('getCourierLogo', { path: { courier_id: DEMO.tenants.demo } });
      await service.request('GET', '/nowhere');
      await service.request('PATCH', '/health');
      await service.request('GET', '/docs/');
    };
    expect(await countedBy(work, 16)).toEqual({
      [label('getHealth', 200)]: 7,
      [label('listPrealerts', 200)]: 1,
      [label('listPrealerts', 400)]: 1,
      [label('listPrealerts', 401)]: 1,
      [label('receivePackage', 403)]: 1,
      [label('submitPrealert', 400)]: 1,
      [label('getCourierLogo', 404)]: 1,
      [label('none', 404)]: 1,
      [label('none', 405)]: 1,
      [label('none', 200)]: 1,
    });
  });

  test.each([
    ['bytes that are not HTTP', 'GARBAGE\r\n\r\n', 'none', 400],
    ['headers too large', `GET /health HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`, 'none', 431],
    [
      'a path that cannot be decoded',
      'GET /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      'none',
      400,
    ],
    ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 'none', 400],
    ['headers that never end', 'GET /health HTTP/1.1\r\nHost: x\r\n', 'none', 408],
    [
      'two hosts, rejected before the guards',
      'GET /health HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n',
      'getHealth',
      400,
    ],
    ['a body that never arrives', `${LOGIN}Content-Length: 9\r\n\r\n{`, 'login', 408],
    [
      'a body with an invalid chunk size',
      `${LOGIN}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n`,
      'login',
      400,
    ],
  ])('%s', async (_name, bytes, operation, status) => {
    const replies: unknown[] = [];
    const counted = await countedBy(async () => replies.push(...(await talk(service.url, bytes))), 1);
    expect(replies).toMatchObject([{ status }]);
    expect(counted).toEqual({ [label(operation, status)]: 1 });
  });

  test('500 parallel requests, by operation', async () => {
    const work = () =>
      Promise.all(
        Array.from({ length: 500 }, (_, n) =>
          n % 5 === 0 ? service.request('GET', `/nowhere/${n}`) : service.call('getHealth'),
        ),
      );
    expect(await countedBy(work, 500)).toEqual({
      [label('getHealth', 200)]: 400,
      [label('none', 404)]: 100,
    });
  });

  test('a request is in flight until its response, and counts as aborted if the client disconnects', async () => {
    const inFlight = async () => (await scrape()).values.get(IN_FLIGHT);
    const socket = await openSocket(service.url);
    const counted = await countedBy(async () => {
      socket.write(`${LOGIN}Content-Length: 9\r\n\r\n{`);
      await until(async () => (await inFlight()) === 1);
      socket.resetAndDestroy();
      await until(async () => (await inFlight()) === 0);
    }, 1);
    expect(counted).toEqual({ [label('login', 'aborted')]: 1 });
  });

  test('a request whose client disconnects in the handler is no longer in flight and counts as aborted', async () => {
    const clients = await Promise.all([1, 2, 3].map(() => service.db.pool.connect()));
    try {
      const socket = await openSocket(service.url);
      const counted = await countedBy(async () => {
        socket.write('GET /ready HTTP/1.1\r\nHost: x\r\n\r\n');
        await until(async () => (await scrape()).values.get('crossdock_pool_waiting{pool="service"}') === 1);
        socket.destroy();
      }, 1);
      expect(counted).toEqual({ [label('getReadiness', 'aborted')]: 1 });
      expect((await scrape()).values.get(IN_FLIGHT)).toBe(0);
    } finally {
      for (const client of clients) client.release();
    }
  });

  test('transactions that wait for their share of the connections are waiting, and their waits are measured', async () => {
    const add = (n: number) =>
      service.call('createCustomer', {
        as: 'admin',
        body: { courier_id: DEMO.couriers.HRB, user_code: `WAIT-${n}`, first_name: 'Ann', last_name: 'Lee' },
      });
    const waited = (scraped: Scrape) =>
      scraped.values.get('crossdock_pool_wait_seconds_sum{pool="service"}') ?? 0;
    const before = await scrape();
    const client = await service.owner.connect();
    try {
      await client.query('begin');
      await client.query('select from couriers where id = $1 for update', [DEMO.couriers.HRB]);
      // A tenant gets four fifths of the three connections: two transactions wait for the lock, the others for a connection.
      const replies = Promise.all([1, 2, 3, 4, 5].map(add));
      await until(async () => (await scrape()).values.get('crossdock_pool_waiting{pool="service"}') === 3);
      await client.query('rollback');
      expect((await replies).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    } finally {
      client.release(true);
    }
    const after = await scrape();
    expect(after.values.get('crossdock_pool_waiting{pool="service"}')).toBe(0);
    expect(waited(after)).toBeGreaterThan(waited(before));
  });

  test('metrics are not available on the public port', async () => {
    expect(await service.request('GET', '/metrics')).toMatchObject({
      status: 404,
      body: { code: 'route_not_found' },
    });
  });
});

describe('durations', () => {
  test('are measured in seconds', async () => {
    const before = await scrape();
    const began = performance.now();
    const socket = await openSocket(service.url);
    const replies = receive(socket);
    socket.write(`${LOGIN}Connection: close\r\nContent-Length: 2\r\n\r\n{`);
    await until(async () => (await scrape()).values.get(IN_FLIGHT) === 1);
    // The rest of the body arrives late, which determines the duration.
    setTimeout(() => socket.write('}'), 300);
    expect(await replies).toMatchObject([{ status: 400 }]);
    const tookS = (performance.now() - began) / 1_000;
    let after = before;
    await until(async () => {
      after = await scrape();
      return growth(before, after, `${SECONDS}_count`)['{operation="login"}'] === 1;
    });
    const sum = growth(before, after, `${SECONDS}_sum`)['{operation="login"}'];
    expect(sum).toBeGreaterThan(0.25);
    expect(sum).toBeLessThanOrEqual(tookS);
    const buckets = growth(before, after, `${SECONDS}_bucket`);
    expect(buckets).not.toHaveProperty(['{le="0.1",operation="login"}']);
    expect(buckets).toMatchObject({ '{le="+Inf",operation="login"}': 1 });
  });

  test('have buckets of up to ten seconds for each operation', async () => {
    await service.call('getHealth');
    const { series } = await scrape();
    const bounds = series
      .filter(({ name, labels }) => name === `${SECONDS}_bucket` && labels['operation'] === 'getHealth')
      .map(({ labels }) => Number(labels['le']?.replace('+Inf', 'Infinity')));
    expect(bounds).toEqual([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.3, 0.5, 1, 2.5, 5, 10, Infinity]);
  });
});

describe('metrics of workers', () => {
  test('are counted by outcome, starting at 0', async () => {
    const { metrics } = service;
    if (!metrics) throw new Error('There are no metrics.');
    const before = await scrape();
    for (const outcome of ['delivered', 'rejected', 'timeout', 'unreachable', 'unsafe_target'])
      expect(before.values.get(`crossdock_webhook_attempts_total{outcome="${outcome}"}`)).toBe(0);
    metrics.webhookAttempt('delivered', 0.2);
    metrics.webhookAttempt('delivered', 0.3);
    metrics.webhookAttempt('timeout', 10);
    metrics.webhooksGivenUp(3);
    metrics.mail('sent');
    metrics.mail('failed');
    metrics.customerSync('failed');
    const after = await scrape();
    expect(growth(before, after, 'crossdock_webhook_attempts_total')).toEqual({
      '{outcome="delivered"}': 2,
      '{outcome="timeout"}': 1,
    });
    expect(after.values.get('crossdock_webhook_attempt_duration_seconds_sum')).toBeCloseTo(10.5);
    expect(after.values.get('crossdock_webhook_attempt_duration_seconds_bucket{le="0.25"}')).toBe(1);
    expect(before.values.get('crossdock_webhooks_given_up_total')).toBe(0);
    expect(growth(before, after, 'crossdock_webhooks_given_up_total')).toEqual({ '': 3 });
    expect(growth(before, after, 'crossdock_mails_total')).toEqual({
      '{result="sent"}': 1,
      '{result="failed"}': 1,
    });
    expect(growth(before, after, 'crossdock_customer_syncs_total')).toEqual({ '{result="failed"}': 1 });
  });

  test('have the outcomes that the database declares', async () => {
    const { rows } = await service.owner.query<{ text: string }>(
      `select pg_get_constraintdef(oid) as text from pg_constraint where conname = 'outcome_is_known'`,
    );
    const known = [...(rows[0]?.text.matchAll(/'(\w+)'/g) ?? [])].map(([, word]) => word);
    const exported = (await scrape()).series
      .filter(({ name }) => name === 'crossdock_webhook_attempts_total')
      .map(({ labels }) => labels['outcome']);
    expect(exported.sort()).toEqual(known.sort());
    expect(known).toHaveLength(5);
  });
});

describe('labels', () => {
  const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/i;
  const CANARY = 'CANARY5f3a';

  test('have few fixed values, whatever the requests contain', async () => {
    const seriesBefore = (await scrape()).series.filter(({ name }) => name === REQUESTS).length;
    await service.call('login', {
      body: { action: 'login', username: CANARY, password: CANARY },
      headers: { 'user-agent': CANARY },
    });
    await service.call('submitPrealert', {
      key: DEMO.apiKeys.IEX,
      body: { UserCode: CANARY, TrackingNumber: CANARY },
    });
    await service.call('listPrealerts', { as: 'two/admin', query: { search: CANARY } });
    await service.call('getCourierLogo', { path: { courier_id: DEMO.couriers.IEX, file: `${CANARY}.png` } });
    for (let n = 0; n < 200; n += 1) await service.request('GET', `/${CANARY}/${n}`);
    await sendRaw(service.url, {
      method: 'PROPFIND',
      path: `/${CANARY}`,
      headers: { host: `${CANARY}.test` },
    });

    const { text, series } = await scrape();
    expect(series.filter(({ name }) => name === REQUESTS).length).toBeLessThanOrEqual(seriesBefore + 6);
    const { rows } = await service.owner.query<{ word: string }>(
      `select unnest(array[id::text, slug, name]) as word from tenants
       union select unnest(array[id::text, name]) from couriers
       union select unnest(array[id::text, username]) from users where username not in ('admin', 'manager', 'warehouse')
       union select host from tenant_hosts where host <> '*'`,
    );
    expect(rows.length).toBeGreaterThan(15);
    const values = series.flatMap(({ labels }) => Object.values(labels));
    const secrets = new Set(rows.map(({ word }) => word));
    expect(values.filter((value) => secrets.has(value))).toEqual([]);
    expect(text).not.toContain(CANARY);
    expect(text).not.toMatch(matching(UUID, DEMO.users.admin));
    expect(text).not.toContain('127.0.0.1');
  });

  test('use only the documented names', async () => {
    await service.call('getHealth');
    const { series } = await scrape();
    const found = new Map<string, Set<string>>();
    for (const { name, labels } of series.filter((each) => each.name.startsWith('crossdock_'))) {
      for (const [key, value] of Object.entries(labels))
        if (key !== 'le') found.set(key, (found.get(key) ?? new Set()).add(`${name}=${value}`));
    }
    const fixed = [
      'kind',
      'migration',
      'operation',
      'outcome',
      'pool',
      'result',
      'state',
      'status',
      'version',
    ];
    expect([...found.keys()].filter((key) => !fixed.includes(key))).toEqual([]);
    const operationsSeen = [...(found.get('operation') ?? [])].map((each) => each.split('=')[1] ?? '');
    expect(
      operationsSeen.filter((each) => each !== 'none' && !(each.replace(/:lines$/, '') in operations)),
    ).toEqual([]);
  });
});

test('docs/operations.md explains every metric of the service and no other', async () => {
  const text = readFileSync(join(projectRoot, 'docs', 'operations.md'), 'utf8');
  const explained = [...text.matchAll(/^\| `(crossdock_\w+)` +\| (\w+) /gm)].map(([, name, type]) => [
    name,
    type,
  ]);
  const { types } = await scrape();
  const exported = [...types].filter(([name]) => name.startsWith('crossdock_'));
  expect(explained.sort()).toEqual(exported.sort());
});

/** Roles, logins and databases. */
const NO_METRICS = /^crossdock_(app|login|lookup|owner|service|staging|staging_owner)$/;

test('every metric that a document names is one of the service, by its whole name', async () => {
  const { types } = await scrape();
  const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');
  // Only a server with a replica exports these. test/resilience/replica.test.ts has one.
  const ofReplica = [...read('src/platform/metrics/databases.ts').matchAll(/'(replica_\w+)'/g)].map(
    ([, name]) => `crossdock_${name}`,
  );
  const exists = (name: string) =>
    [name, name.replace(/_(bucket|count|sum)$/, '')].some((each) => types.has(each)) ||
    ofReplica.includes(name) ||
    NO_METRICS.test(name);
  const pages = readdirSync(join(projectRoot, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path));
  const named = [...pages, 'README.md', 'CONTRIBUTING.md', 'SECURITY.md'].flatMap((path) =>
    // Also the beginning of a pattern, such as crossdock_mails_*.
    [...read(path).matchAll(/\bcrossdock_[\w*…]*/g)].map(([name]) => ({ path, name })),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(({ name }) => !exists(name)).map(({ path, name }) => `${path} names ${name}`)).toEqual(
    [],
  );
});

describe('database connections', () => {
  test('are reported while all are in use, because scrapes have a connection of their own', async () => {
    const value = async (key: string) => (await scrape()).values.get(`crossdock_pool_${key}`);
    expect(await value('connections_max{pool="service"}')).toBe(3);
    const clients = await Promise.all([1, 2, 3].map(() => service.db.pool.connect()));
    const waiting = [1, 2].map(() => service.db.pool.query('select 1'));
    try {
      expect(await value('connections{pool="service",state="busy"}')).toBe(3);
      expect(await value('connections{pool="service",state="idle"}')).toBe(0);
      expect(await value('waiting{pool="service"}')).toBe(2);
      expect((await scrape()).values.get('crossdock_database_up')).toBe(1);
    } finally {
      for (const client of clients) client.release();
      await Promise.all(waiting);
    }
    expect(await value('waiting{pool="service"}')).toBe(0);
    expect(await value('connections{pool="service",state="busy"}')).toBe(0);
  });
});

describe('the metrics listener', () => {
  test('exports metrics of the process and the build', async () => {
    const { values } = await scrape();
    expect(values.get('process_resident_memory_bytes')).toBeGreaterThan(10e6);
    expect(values.get('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
    expect(values.get(`crossdock_build_info{version="${packageVersion()}"}`)).toBe(1);
  });

  test('responds in the format that Prometheus reads', async () => {
    const response = await fetch(metricsUrl('/metrics?x=1'));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  test.each([
    ['GET', '/health', 200],
    ['HEAD', '/health', 405],
    ['POST', '/metrics', 405],
    ['DELETE', '/health', 405],
    ['GET', '/', 404],
    ['POST', '/metrics/', 404],
    ['GET', '/api/login.php', 404],
    ['GET', '/ready', 404],
  ])('%s %s returns %d', async (method, path, status) => {
    const response = await fetch(metricsUrl(path), { method });
    expect(response.status).toBe(status);
    expect(response.headers.get('allow')).toBe(status === 405 ? 'GET' : null);
    expect(await response.text()).toBe(status === 200 ? 'ok\n' : '');
  });

  test('continues to work after malformed requests and disconnected clients', async () => {
    await talk(metricsUrl('/'), 'GARBAGE\r\n\r\n');
    await talk(metricsUrl('/'), `GET /metrics HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`);
    for (let n = 0; n < 20; n += 1) {
      const socket = await openSocket(metricsUrl('/'));
      socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
      if (n % 2) await once(socket, 'data');
      socket.destroy();
    }
    expect(await statusOf(metricsUrl('/health'))).toBe(200);
    expect(await statusOf(metricsUrl('/metrics'))).toBe(200);
  });
});

describe('the metrics port of a process', () => {
  test('is the one in METRICS_PORT, and the process exits in time', async () => {
    const database = await demoDatabase();
    try {
      const port = await freePort();
      const replica = await startReplica({ DATABASE_URL: database.ownerUrl, METRICS_PORT: String(port) });
      await statusOf(`${replica.url}/health`);
      const { values } = await scrapePort(port);
      expect(values.get(keyOf(REQUESTS, { operation: 'getHealth', status: '200' }))).toBe(1);
      expect(values.get('crossdock_pool_connections_max{pool="service"}')).toBe(10);
      expect(values.get('crossdock_database_up')).toBe(1);
      const began = performance.now();
      expect(await replica.stop()).toEqual({ code: 0, signal: null });
      expect(performance.now() - began).toBeLessThan(5_000);
      expect(await statusOf(`http://127.0.0.1:${port}/health`)).toBeUndefined();
    } finally {
      await endProcesses();
      await database.drop();
    }
  });

  test('stops the start with one error line if it is occupied', async () => {
    const database = await demoDatabase();
    try {
      const program = run('src/main.js', {
        LOG_LEVEL: 'error',
        PORT: '0',
        DATABASE_URL: database.ownerUrl,
        METRICS_PORT: String(metricsPort),
      });
      expect(await program.ended).toEqual({ code: 1, signal: null });
      expect(program.output()).toMatch(
        /^Cannot serve metrics on 127\.0\.0\.1:\d+: listen EADDRINUSE.*Set METRICS_HOST or METRICS_PORT\.\n$/,
      );
    } finally {
      await database.drop();
    }
  });
});
