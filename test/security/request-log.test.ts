import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../fixtures/demo/seed.js';
import { newServiceToken } from '../../src/platform/access/service-tokens.js';
import { ask, logIn, type Answer, type Question } from '../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../support/service/database.js';
import { endProcesses, startReplica, until, type Replica } from '../support/service/processes.js';

const LIMIT_MS = 60_000;
const LOOKUP_KEY = '0123456789abcdef'.repeat(4);

let database: TestDatabase;
let owner: pg.Client;
let replica: Replica;
let token: string;
let courierToken: string;
const ids: Record<string, string> = {};

beforeAll(async () => {
  database = await demoDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  const { rows } = await owner.query(
    "select u.username, u.id from users u join tenants t on t.id = u.tenant_id where t.slug = 'demo'",
  );
  for (const { username, id } of rows) ids[username] = id;
  replica = await startReplica({
    DATABASE_URL: database.ownerUrl,
    LOG_LEVEL: 'info',
    RUN_WORKER: 'false',
    TRUST_PROXY: '127.0.0.1',
  });
  token = await logIn(replica.url, 'admin');
  courierToken = await logIn(replica.url, 'iex');
}, LIMIT_MS);

afterAll(async () => {
  await owner.end();
  await endProcesses();
  await database.drop();
}, LIMIT_MS);

type Line = Record<string, unknown> & { event?: string; msg?: string };

const linesOf = (requestId: unknown): Line[] =>
  replica
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
    .filter(({ reqId }) => reqId === requestId);

const bearer = (value: string) => ({ authorization: `Bearer ${value}` });

/** Sends a request and returns its complete log. */
async function logOf(request: Question): Promise<{ answer: Answer; end: Line; events: Line[] }> {
  const answer = await ask(replica.url, request);
  const requestId = answer.headers['x-request-id'];
  const find = () => linesOf(requestId).find(({ msg }) => msg === 'request completed');
  await until(async () => find() !== undefined, 5_000);
  const events = linesOf(requestId).filter(({ event }) => event !== undefined);
  return { answer, end: find() ?? {}, events };
}

const login = (username: string, password: string, address = '198.51.100.1'): Question => ({
  method: 'POST',
  path: '/api/login.php',
  headers: { 'x-forwarded-for': address },
  body: { action: 'login', username, password },
});

describe('the log line of a completed request', () => {
  test.each<[string, () => Question, object]>([
    [
      'a success',
      () => ({ path: '/api/ManagePrealerts.php?search=hidden', headers: bearer(token) }),
      {
        operationId: 'listPrealerts',
        tenantId: DEMO.tenants.demo,
        userId: () => ids['admin'],
        role: 'admin',
        res: { statusCode: 200 },
        req: {
          method: 'GET',
          path: '/api/ManagePrealerts.php',
          host: expect.any(String),
          address: '127.0.0.1',
        },
      },
    ],
    [
      'a 401 without a token',
      () => ({ path: '/api/ManagePrealerts.php' }),
      {
        operationId: 'listPrealerts',
        tenantId: DEMO.tenants.demo,
        code: 'token_missing',
        res: { statusCode: 401 },
      },
    ],
    [
      'a 401 for another tenant’s token',
      () => ({ path: '/api/ManagePrealerts.php', headers: { ...bearer(token), host: DEMO.hosts.two } }),
      {
        userId: () => ids['admin'],
        tenantId: DEMO.tenants.two,
        callerTenantId: DEMO.tenants.demo,
        code: 'token_invalid',
        res: { statusCode: 401 },
      },
    ],
    [
      'a 403 for a permission that the role lacks',
      () => ({ path: '/api/AuditLog.php', headers: bearer(courierToken) }),
      {
        operationId: 'listAuditEntries',
        userId: () => ids['iex'],
        role: 'courier',
        courierId: DEMO.couriers.IEX,
        code: 'permission_denied',
        res: { statusCode: 403 },
      },
    ],
    [
      'a 404 for a record',
      () => ({ path: `/api/GetManifest.php?id=${DEMO.tenants.demo}`, headers: bearer(token) }),
      { userId: () => ids['admin'], code: 'manifest_not_found', res: { statusCode: 404 } },
    ],
    ['a 404 for a path', () => ({ path: '/nowhere' }), { code: 'route_not_found', res: { statusCode: 404 } }],
    [
      'a 405',
      () => ({ method: 'PUT', path: '/api/login.php' }),
      { code: 'method_not_allowed', res: { statusCode: 405 } },
    ],
    [
      'a 400 for a field',
      () => ({ path: '/api/ManagePrealerts.php?limit=0', headers: bearer(token) }),
      { userId: () => ids['admin'], code: 'validation_failed', res: { statusCode: 400 } },
    ],
    [
      'a 422',
      () => login('', ''),
      {
        operationId: 'login',
        tenantId: DEMO.tenants.demo,
        code: 'credentials_required',
        res: { statusCode: 422 },
        req: { method: 'POST', path: '/api/login.php', host: expect.any(String), address: '198.51.100.1' },
      },
    ],
    [
      'a refused key',
      () => ({
        method: 'POST',
        path: '/api/Prealert.php',
        headers: { 'x-api-key': 'f'.repeat(64) },
        body: { UserCode: 'IEX-1001', TrackingNumber: 'REFUSED-1' },
      }),
      {
        operationId: 'submitPrealert',
        tenantId: DEMO.tenants.demo,
        keyId: expect.stringMatching(/^[0-9a-f]{12}$/),
        code: 'key_invalid',
        res: { statusCode: 403 },
      },
    ],
  ])('records caller, tenant, operation and outcome of %s', async (_name, request, wanted) => {
    const { end } = await logOf(request());
    const expected = Object.fromEntries(
      Object.entries(wanted).map(([name, value]) => [name, typeof value === 'function' ? value() : value]),
    );
    expect(end).toMatchObject(expected);
    if (!('code' in wanted)) expect(end).not.toHaveProperty('code');
    expect(JSON.stringify(end)).not.toContain('hidden');
  });

  test('records the code of a 409 response, also of the stored response for a repeated Idempotency-Key', async () => {
    const request = {
      method: 'POST',
      path: '/api/Prealert.php',
      headers: { 'x-api-key': DEMO.apiKeys.IEX },
      body: { UserCode: 'IEX-1001', TrackingNumber: 'TWICE-1' },
    };
    const first = await logOf(request);
    expect(first.end).toMatchObject({ res: { statusCode: 201 } });
    const again = { ...request, headers: { ...request.headers, 'idempotency-key': 'log-1' } };
    for (let n = 0; n < 2; n += 1) {
      const { end } = await logOf(again);
      expect(end).toMatchObject({
        keyId: first.end['keyId'],
        code: 'duplicate_tracking_number',
        res: { statusCode: 409 },
      });
    }
  });

  test('records a key id that identifies the courier and cannot be used as a key', async () => {
    const { end } = await logOf({
      method: 'POST',
      path: '/api/Prealert.php',
      headers: { 'x-api-key': DEMO.apiKeys.HRB },
      body: {},
    });
    const { rows } = await owner.query('select code from couriers where api_key_hash like $1', [
      `${String(end['keyId'])}%`,
    ]);
    expect(rows).toEqual([{ code: 'HRB' }]);
  });

  test('names the courier of an API key or a service token once the database has checked it, and never before', async () => {
    const create = {
      method: 'POST',
      path: '/api/ServiceTokens.php',
      headers: bearer(courierToken),
      body: { action: 'create', name: 'logged', scopes: ['packages:read'], current_password: DEMO.password },
    };
    const { data } = JSON.parse((await logOf(create)).answer.text) as { data: { token: string } };
    const events = (value: string) => logOf({ path: '/api/Events.php', headers: bearer(value) });
    expect((await events(data.token)).end).toMatchObject({
      tokenId: expect.any(String),
      courierId: DEMO.couriers.IEX,
    });
    const invented = await events(newServiceToken({ tokenId: randomUUID(), courierId: DEMO.couriers.IEX }));
    expect(invented.end).toMatchObject({ code: 'service_token_invalid', claimedTokenId: expect.any(String) });
    expect(invented.end).not.toHaveProperty('courierId');
    const submit = (key: string) =>
      logOf({ method: 'POST', path: '/api/Prealert.php', headers: { 'x-api-key': key }, body: {} });
    expect((await submit(DEMO.apiKeys.IEX)).end).toMatchObject({ courierId: DEMO.couriers.IEX });
    expect((await submit('e'.repeat(64))).end).not.toHaveProperty('courierId');
  });

  test('is also written when the client disconnects before the response', async () => {
    await owner.query('begin; lock table packages in access exclusive mode');
    const leaving = new AbortController();
    const aborted = fetch(`${replica.url}/api/RetrievePackages.php`, {
      method: 'POST',
      headers: { ...bearer(token), 'content-type': 'application/json' },
      body: '{}',
      signal: leaving.signal,
    }).catch(() => undefined);
    await until(async () => {
      const { rows } = await owner.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length > 0;
    });
    leaving.abort();
    await aborted;
    await until(async () => replica.output().includes('request aborted'), 5_000);
    await owner.query('rollback');
    const line = replica
      .output()
      .split('\n')
      .find((each) => each.includes('request aborted'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      operationId: 'listPackages',
      userId: ids['admin'],
      tenantId: DEMO.tenants.demo,
    });
  });
});

describe('login events', () => {
  const nameHashOf = (name: string, key: Buffer) =>
    createHmac('sha256', key).update(`user_name\0${name}`).digest('hex').slice(0, 16);

  test('a successful login records the user', async () => {
    const { events } = await logOf(login('manager', DEMO.password, '198.51.100.2'));
    expect(events).toMatchObject([
      {
        event: 'login.succeeded',
        tenantId: DEMO.tenants.demo,
        userId: ids['manager'],
        address: '198.51.100.2',
      },
    ]);
  });

  test('a failed login records the user and the address', async () => {
    const { events, end } = await logOf(login('Warehouse', 'no-such-password', '198.51.100.3'));
    expect(events).toMatchObject([
      {
        event: 'password.refused',
        code: 'credentials_invalid',
        tenantId: DEMO.tenants.demo,
        userId: ids['warehouse'],
        address: '198.51.100.3',
      },
    ]);
    expect(end).toMatchObject({
      operationId: 'login',
      code: 'credentials_invalid',
      res: { statusCode: 401 },
    });
  });

  test('an unknown username is recorded as a keyed hash, because it may be a password in the wrong field', async () => {
    const typed = 'My-Password-In-The-Wrong-Field';
    const first = await logOf(login(typed, 'x', '198.51.100.4'));
    const second = await logOf(login(typed.toUpperCase(), 'x', '198.51.100.5'));
    expect(first.events).toMatchObject([
      {
        event: 'password.refused',
        nameHash: expect.stringMatching(/^[0-9a-f]{16}$/),
        address: '198.51.100.4',
      },
    ]);
    expect(first.events[0]).not.toHaveProperty('userId');
    expect(second.events[0]?.['nameHash']).toBe(first.events[0]?.['nameHash']);
    expect(first.events[0]?.['nameHash']).not.toBe(
      nameHashOf(typed.toLowerCase(), Buffer.from(LOOKUP_KEY, 'hex')),
    );
    expect(replica.output().toLowerCase()).not.toContain(typed.toLowerCase());
  });

  test("a lockout is a separate event, and later refusals record the name's hash and the address", async () => {
    for (let n = 0; n < 4; n += 1) await logOf(login('hrb', 'wrong', '198.51.100.6'));
    const fifth = await logOf(login('hrb', 'wrong', '198.51.100.6'));
    expect(fifth.events.map(({ event }) => event)).toEqual(['account.locked', 'password.refused']);
    expect(fifth.events[0]).toMatchObject({ userId: ids['hrb'], address: '198.51.100.6' });
    const sixth = await logOf(login('hrb', DEMO.password, '198.51.100.7'));
    expect(sixth.events).toMatchObject([
      {
        event: 'password.refused',
        code: 'too_many_attempts',
        nameHash: fifth.events[0]?.['nameHash'],
        address: '198.51.100.7',
      },
    ]);
    expect(sixth.end).toMatchObject({ code: 'too_many_attempts', res: { statusCode: 429 } });
  });

  test('a login to a disabled account with the right password records the user', async () => {
    const { events } = await logOf(login('disabled', DEMO.password, '198.51.100.8'));
    expect(events).toMatchObject([
      { event: 'password.refused', code: 'account_disabled', userId: ids['disabled'] },
    ]);
  });

  test('a login records that a second factor is required and that a code was wrong', async () => {
    const half = await logOf(login('guarded', DEMO.password, '198.51.100.9'));
    expect(half.events).toMatchObject([{ event: 'login.code_required', userId: ids['guarded'] }]);
    const { preauth_token } = (JSON.parse(half.answer.text) as { data: { preauth_token: string } }).data;
    const body = { action: 'verify_2fa', preauth_token, code: '000000' };
    const request = { ...login('', '', '198.51.100.10'), body };
    const wrong = await logOf(request);
    expect(wrong.events).toMatchObject([
      { event: 'code.refused', code: 'code_invalid', userId: ids['guarded'], address: '198.51.100.10' },
    ]);
    expect((await logOf(request)).events[0]).not.toHaveProperty('userId');
    expect(replica.output()).not.toContain(preauth_token);
  });
});

describe('events for secrets in responses', () => {
  const settings = `/api/CourierSettingsAPI.php?id=${DEMO.couriers.IEX}`;

  test('reading courier settings records the caller and the courier, but no secret', async () => {
    const { answer, events } = await logOf({ path: settings, headers: bearer(token) });
    expect(events).toMatchObject([
      {
        event: 'secret.read',
        operationId: 'getCourierSettings',
        fields: expect.arrayContaining(['api_key']),
        tenantId: DEMO.tenants.demo,
        userId: ids['admin'],
        targetCourierId: DEMO.couriers.IEX,
        address: '127.0.0.1',
      },
    ]);
    const { data } = JSON.parse(answer.text) as { data: Record<string, string | null> };
    for (const name of ['api_key', 'api_token', 'webhook_secret']) {
      const value = data[name];
      if (value) expect(replica.output()).not.toContain(value);
    }
  });

  test('a new API key is recorded each time, also when the stored response is returned', async () => {
    const request = {
      method: 'POST',
      path: settings,
      headers: {
        ...bearer(token),
        'idempotency-key': 'secret-1',
        'content-type': 'application/x-www-form-urlencoded',
      },
      raw: 'action=regenerate_key',
    };
    const texts = [];
    for (let n = 0; n < 2; n += 1) {
      const { answer, events } = await logOf(request);
      texts.push(answer.text);
      expect([answer.status, events]).toMatchObject([
        200,
        [{ event: 'secret.read', fields: ['api_key'], targetCourierId: DEMO.couriers.IEX }],
      ]);
    }
    expect(texts[0]).toBe(texts[1]);
  });

  test('a response without secrets and a refused request record no event', async () => {
    const list = { path: '/api/ManagePrealerts.php', headers: bearer(token) };
    expect((await logOf(list)).events).toEqual([]);
    const refused = await logOf({ path: '/api/CourierSettingsAPI.php', headers: bearer(token) });
    expect([refused.answer.status, refused.events]).toEqual([400, []]);
  });

  test('a reset to a one-time password records the user', async () => {
    const { answer, events } = await logOf({
      method: 'POST',
      path: '/api/ManageUsers.php',
      headers: bearer(token),
      body: { action: 'reset_password', user_id: ids['warehouse'] },
    });
    expect(answer.status).toBe(200);
    expect(events).toMatchObject([
      {
        event: 'secret.read',
        fields: ['one_time_password'],
        userId: ids['admin'],
        targetUserId: ids['warehouse'],
      },
    ]);
  });
});

test('requests that the HTTP parser rejects are logged', async () => {
  const { hostname, port } = new URL(replica.url);
  const { connect } = await import('node:net');
  const text = await new Promise<string>((resolve) => {
    let received = '';
    const socket = connect(Number(port), hostname, () => socket.write('GARBAGE\r\n\r\n'));
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.on('close', () => resolve(received));
  });
  const [, requestId] = /X-Request-Id: (\S+)/.exec(text) ?? [];
  await until(async () => linesOf(requestId).length > 0, 5_000);
  expect(linesOf(requestId)).toMatchObject([
    { msg: 'request refused', code: 'malformed_request', address: '127.0.0.1', res: { statusCode: 400 } },
  ]);
});

test('the log contains no password, token or API key', async () => {
  const secrets = [token, courierToken, DEMO.password, DEMO.apiKeys.IEX, DEMO.apiKeys.HRB, 'f'.repeat(64)];
  // A query that is percent-encoded once too often becomes part of the path.
  await logOf({ path: `/api/Prealert.php%3Fapi_key=${DEMO.apiKeys.IEX}` });
  const lines = replica
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'));
  expect(lines.length).toBeGreaterThan(50);
  for (const secret of secrets) expect(lines.filter((line) => line.includes(secret))).toEqual([]);
});
