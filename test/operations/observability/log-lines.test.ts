import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { developmentConfig } from '../../support/staging/development.js';
import { openSecrets } from '../../../src/platform/access/secrets.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { startCollector, type Collector } from '../../support/harness/collector.js';
import { refuse, startReceiver, type Receiver } from '../../support/receivers/receiver.js';
import { setEndpoints } from '../../support/receivers/webhooks.js';
import { ask, logIn } from '../../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../../support/service/database.js';
import {
  endProcesses,
  removeFolders,
  startReplica,
  until,
  type Replica,
} from '../../support/service/processes.js';

const LIMIT_MS = 60_000;

let database: TestDatabase;
let owner: pg.Pool;
let collector: Collector;
let courier: Receiver;
let replica: Replica;

beforeAll(async () => {
  database = await demoDatabase();
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 2 });
  collector = await startCollector();
  courier = await startReceiver(refuse(500, 'RESPONSE-CANARY'));
  replica = await startReplica({
    DATABASE_URL: database.ownerUrl,
    LOG_LEVEL: 'info',
    OUTBOUND_ALLOW_LOOPBACK: 'true',
    // No file can be created in it.
    MAIL_OUTBOX: '/dev/null/outbox',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '50',
  });
  const { secrets } = developmentConfig({});
  await setEndpoints({ owner, secrets: openSecrets(secrets) }, { add: `${courier.url}/URL-CANARY` });
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await removeFolders();
  await owner.end();
  await courier.stop();
  await collector.stop();
  await database.drop();
}, LIMIT_MS);

type Line = Record<string, unknown>;

/** Waits for a line with these fields. */
async function lineWith(fields: Line): Promise<Line> {
  const find = () =>
    replica
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line)
      .find((line) => Object.entries(fields).every(([name, value]) => line[name] === value));
  await until(async () => find() !== undefined);
  return find() ?? {};
}

const traceId = () => randomBytes(16).toString('hex');
const traced = (id: string) => ({ traceparent: `00-${id}-${'b'.repeat(16)}-01` });

test('a refused request: tenant, key, operation, status, code and trace', async () => {
  const id = traceId();
  await ask(replica.url, {
    method: 'POST',
    path: '/api/Prealert.php',
    headers: { 'x-api-key': DEMO.apiKeys.IEX, ...traced(id) },
    body: { UserCode: 'IEX-1001' },
  });
  expect(await lineWith({ msg: 'request completed', traceId: id })).toMatchObject({
    level: 30,
    tenantId: DEMO.tenants.demo,
    keyId: expect.stringMatching(/^[0-9a-f]{12}$/),
    operationId: 'submitPrealert',
    res: { statusCode: 400 },
    code: expect.any(String),
  });
});

test('a failed request: tenant, user, operation, status, code, trace, and the error at level 50', async () => {
  const id = traceId();
  const token = await logIn(replica.url, 'admin');
  await owner.query('alter table carriers rename to carriers_away');
  try {
    const headers = { authorization: `Bearer ${token}`, ...traced(id) };
    expect(await ask(replica.url, { path: '/api/ManageCarriers.php', headers })).toMatchObject({
      status: 500,
    });
  } finally {
    await owner.query('alter table carriers_away rename to carriers');
  }
  const { rows } = await owner.query<{ id: string }>(
    'select id from users where username = $1 and tenant_id = $2',
    ['admin', DEMO.tenants.demo],
  );
  const fields = {
    tenantId: DEMO.tenants.demo,
    userId: rows[0]?.id,
    role: 'admin',
    operationId: 'listCarriers',
    code: 'internal_error',
  };
  expect(await lineWith({ msg: 'request completed', traceId: id })).toMatchObject({
    ...fields,
    res: { statusCode: 500 },
  });
  expect(await lineWith({ level: 50, traceId: id })).toMatchObject({ ...fields, err: { code: '42P01' } });
});

test('health checks: no line at info, unless they fail', async () => {
  expect(await ask(replica.url, { path: '/health' })).toMatchObject({ status: 200 });
  expect(await ask(replica.url, { path: '/ready?a=b' })).toMatchObject({ status: 200 });
  await owner.query('alter table _prisma_migrations rename to migrations_away');
  try {
    await until(async () => (await ask(replica.url, { path: '/ready' })).status >= 500);
  } finally {
    await owner.query('alter table migrations_away rename to _prisma_migrations');
  }
  expect(await lineWith({ msg: 'request completed', operationId: 'getReadiness' })).toMatchObject({
    level: 30,
    code: expect.any(String),
  });
  const checks = replica
    .output()
    .split('\n')
    .filter((line) => /"path":"\/(health|ready)/.test(line))
    .map((line) => JSON.parse(line) as { msg: string; res?: { statusCode: number } });
  expect(
    checks.filter(({ msg, res }) => msg === 'incoming request' || (res?.statusCode ?? 200) < 400),
  ).toEqual([]);
});

test('a webhook that is not delivered: tenant, courier, job, outcome, status and trace', async () => {
  const id = traceId();
  const token = await logIn(replica.url, 'warehouse');
  const received = await ask(replica.url, {
    method: 'POST',
    path: '/api/ReceivePackage.php',
    headers: { authorization: `Bearer ${token}`, ...traced(id) },
    body: { tracking_number: 'BODY-CANARY', weight: 1, user_code: 'IEX-1001' },
  });
  expect(received.status).toBe(201);
  const { rows } = await owner.query('select id from webhook_deliveries');
  expect(await lineWith({ msg: 'webhook not delivered', traceId: id })).toMatchObject({
    level: 30,
    tenantId: DEMO.tenants.demo,
    courierId: DEMO.couriers.IEX,
    job: 'deliver',
    jobId: expect.any(String),
    deliveryId: rows[0]?.id,
    endpoint: 'add_package',
    attempt: 1,
    outcome: 'rejected',
    status: 500,
    durationMs: expect.any(Number),
  });
});

test('a failed job: tenant, kind, attempt, status, error and the trace of the request that queued it', async () => {
  const id = traceId();
  await owner.query("update users set email = 'warehouse@example.com' where username = 'warehouse'");
  await ask(replica.url, {
    method: 'POST',
    path: '/api/PasswordReset.php',
    headers: traced(id),
    body: { action: 'request', username: 'warehouse' },
  });
  expect(await lineWith({ msg: 'job failed', traceId: id })).toMatchObject({
    level: 50,
    tenantId: DEMO.tenants.demo,
    job: 'sendAccountMail',
    jobId: expect.any(String),
    jobAttempt: 1,
    status: 'retried',
    err: { message: expect.stringContaining('was not sent') },
  });
});

test('no line contains a body, a URL of a courier or a response', () => {
  expect(replica.output()).toContain('webhook not delivered');
  expect(replica.output()).not.toContain('CANARY');
});
