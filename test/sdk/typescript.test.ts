import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { typescript } from '../../sdk-tools/typescript/language.js';
import { readContract } from '../../sdk-tools/contract.js';
import { runScenario } from '../../sdk-tools/scenario/scenario.js';
import { STEPS } from '../../sdk-tools/scenario/steps.js';
import { runProgram } from '../../sdk-tools/tool.js';
import { projectRoot } from '../../src/config/project-root.js';
import { DEMO, DEMO_BACKUP_CODES } from '../../fixtures/demo/demo.js';
import { startReceiver, type Receiver } from '../support/receivers/receiver.js';
import { buildSdk } from './programs/build-sdk.js';
import { freePort, until } from '../support/service/processes.js';
import { startService, type Service } from '../support/service/service.js';

const folder = join(projectRoot, 'sdk', 'typescript');

// The package is imported as it is built. A separate test checks its types as a consumer does.
// oxlint-disable-next-line typescript/no-explicit-any
type Untyped = any;

let sdk: Untyped;
let service: Service;
let receiver: Receiver;

beforeAll(async () => {
  await buildSdk();
  sdk = await import(pathToFileURL(join(folder, 'dist', 'index.js')).href);
  service = await startService();
  receiver = await startReceiver();
}, 180_000);
afterAll(async () => {
  await receiver.stop();
  await service.stop();
});
beforeEach(() => void receiver.received.splice(0));

const account = (username: string, more: object = {}) =>
  new sdk.CrossdockClient({ baseUrl: service.url, username, password: DEMO.password, ...more });
/** A key client of the receiver, which answers what the test says. */
const keyClient = (more: object = {}) =>
  new sdk.CrossdockKeyClient({ baseUrl: receiver.url, apiKey: 'a'.repeat(64), ...more });
const PREALERT = { UserCode: 'IEX-1001', TrackingNumber: 'SDK-1' };

/** Responds with each of these in turn, and with the last one from then on. */
function answerInTurn(
  ...replies: { status: number; headers?: Record<string, string>; body?: string }[]
): void {
  let next = 0;
  receiver.answer = (_request, response) => {
    const { status, headers = {}, body } = replies[Math.min(next, replies.length - 1)] ?? { status: 500 };
    next += 1;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body ?? JSON.stringify(status < 300 ? CREATED : failure('unavailable')));
  };
}

const CREATED = { status: 'success', message: 'Created.', data: { prealert_id: randomUUID() }, timestamp: 0 };
const failure = (code: string) => ({ status: 'fail', message: 'No.', code, request_id: 'r-1', timestamp: 0 });

/** Reads a list to its end, and returns the number of its items. */
async function drain(list: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of list) count += 1;
  return count;
}

/** Returns what a call throws. */
const errorOf = (call: PromiseLike<unknown>): Promise<Untyped> =>
  Promise.resolve(call).then(
    () => Promise.reject(new Error('The call succeeded.')),
    (error: unknown) => error,
  );

test('of 400 pauses before a retry, none is too short, not even by a fraction of a millisecond', async () => {
  const { sleep } = await import(pathToFileURL(join(folder, 'dist', 'retry.js')).href);
  const missing = await Promise.all(
    Array.from({ length: 400 }, async (_, index) => {
      const pauseMs = 20 + index / 7;
      const startMs = performance.now();
      await sleep(pauseMs, undefined);
      return pauseMs - (performance.now() - startMs);
    }),
  );
  expect(missing.filter((ms) => ms > 0)).toEqual([]);
});

test('the scenario of twelve steps succeeds against the service', async () => {
  const results = await runScenario(typescript, service.url);
  expect(results).toEqual(STEPS.map(() => undefined));
}, 60_000);

test('the first five lines of the README run as they are', async () => {
  const readme = await readFile(join(folder, 'README.md'), 'utf8');
  const [, lines = ''] = /```js\n([\s\S]*?)```/.exec(readme) ?? [];
  expect(lines.trim().split('\n')).toHaveLength(5);
  const command = { program: process.execPath, args: ['--input-type=module', '--eval', lines], folder };
  const env = { CROSSDOCK_URL: service.url, CROSSDOCK_API_KEY: DEMO.apiKeys.IEX };
  const { code, output } = await runProgram(command, env, () => undefined);
  expect([code, output]).toEqual([0, expect.stringMatching(/^[0-9a-f-]{36}\n$/)]);
});

test('a cursor above the newest event is an error, not silence', async () => {
  const { events } = account('iex');
  const error = await errorOf(drain(events.list({ after: 9_999 })));
  expect(error).toMatchObject({ name: 'CursorAheadError', after: 9_999, lastSequence: expect.any(Number) });
  expect(error).toBeInstanceOf(sdk.CursorAheadError);
  expect(await errorOf(drain(events.list({ after: 9_999 }).pages()))).toMatchObject({ after: 9_999 });
  expect((await events.list({ after: 9_999 })).meta.is_ahead).toBe(true);
  expect(await drain(events.list({ after: error.lastSequence }))).toBe(0);
});

test('a Date becomes the text that filters take', async () => {
  const { packages } = account('iex');
  for (const text of ['2026-11-22 21:40:00', '2026-11-22T21:40:00Z'])
    expect(sdk.formatTime(sdk.parseTime(text))).toBe('2026-11-22 21:40:00');
  const changed_since = sdk.formatTime(new Date(Date.now() + 86_400_000));
  expect((await packages.list({ changed_since })).meta.total_count).toBe(0);
});

test('version and methods are those of the contract', async () => {
  const contract = await readContract();
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const project = JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8'));
  expect([manifest.version, sdk.VERSION]).toEqual([contract.info.version, contract.info.version]);
  expect(manifest.license).toBe(project.license);
  const methods = await readFile(join(folder, 'dist', 'generated', 'methods.js'), 'utf8');
  const ids = Object.values(contract.paths).flatMap((item) =>
    Object.values(item).map((each) => each?.operationId),
  );
  const missing = ids.filter((id) => !methods.includes(`(core.${id},`));
  // The clients log in themselves. The other two are documents about the service.
  expect(
    missing.filter(
      (id) => !['login', 'getContractJson', 'getContractYaml', 'getSdkContract'].includes(id ?? ''),
    ),
  ).toEqual([]);
});

describe('a batch of pre-alerts', () => {
  const courier = () => new sdk.CrossdockKeyClient({ baseUrl: service.url, apiKey: DEMO.apiKeys.IEX });
  const batch = (...numbers: string[]) =>
    numbers.map((number) => ({ UserCode: 'IEX-1001', TrackingNumber: `BATCH-${number}` }));

  test('each pre-alert has its own result', async () => {
    const unknown = { UserCode: 'NOBODY', TrackingNumber: 'BATCH-X' };
    const { total, created, results } = await courier().prealerts.submitBatch([
      ...batch('A', 'B', 'A'),
      unknown,
    ]);
    expect([total, created]).toEqual([4, 2]);
    expect(results).toMatchObject([
      { line: 1, status: 'created', prealert_id: expect.any(String) },
      { line: 2, status: 'created' },
      { line: 3, status: 'duplicate', code: 'duplicate_tracking_number' },
      { line: 4, status: 'unknown_customer', code: 'unknown_user_code' },
    ]);
  });

  test('a doubtful number has a warning, of a single pre-alert and of a line', async () => {
    const doubtful = { UserCode: 'IEX-1001', TrackingNumber: 'NO NUMBER YET' };
    const { data } = await courier().prealerts.submit(doubtful);
    expect(data).toMatchObject({ prealert_id: expect.any(String), warnings: [{ code: 'unlikely_number' }] });
    const sent = [{ ...doubtful, TrackingNumber: 'NOT KNOWN' }, ...batch('11')];
    const { results } = await courier().prealerts.submitBatch(sent);
    expect(results.map(({ warnings = [] }: Untyped) => warnings.map(({ code }: Untyped) => code))).toEqual([
      ['unlikely_number'],
      [],
    ]);
  });

  test('a service token submits as an API key does, each in its own header', async () => {
    const { body } = await service.call('manageServiceTokens', {
      as: 'iex',
      body: {
        action: 'create',
        name: 'typescript',
        scopes: ['prealerts:write'],
        current_password: DEMO.password,
      },
    });
    const { token } = body['data'];
    const machine = new sdk.CrossdockKeyClient({ baseUrl: service.url, apiKey: token });
    const [single, ...more] = batch('TOKEN-1', 'TOKEN-2');
    expect(await machine.prealerts.submit(single)).toMatchObject({ status: 'success' });
    expect((await machine.prealerts.submitBatch(more)).created).toBe(1);
    answerInTurn({ status: 201 });
    await keyClient({ apiKey: token }).prealerts.submit(PREALERT);
    await keyClient().prealerts.submit(PREALERT);
    expect(receiver.received.map(({ headers }) => [headers.authorization, headers['x-api-key']])).toEqual([
      [`Bearer ${token}`, undefined],
      [undefined, 'a'.repeat(64)],
    ]);
  });

  test('an atomic batch with a duplicate stores nothing', async () => {
    const error = await errorOf(courier().prealerts.submitBatch(batch('C', 'D', 'C'), { atomic: true }));
    expect(error).toMatchObject({
      name: 'DuplicateError',
      code: 'duplicate_tracking_number',
      errors: [{ row: 3 }],
    });
    const { created } = await courier().prealerts.submitBatch(batch('C', 'D'), { atomic: true });
    expect(created).toBe(2);
  });

  test('more than 1,000 are sent in several requests, and lines are counted through', async () => {
    async function* many() {
      for (let n = 1; n <= 1_001; n += 1) yield { UserCode: 'NOBODY', TrackingNumber: `BATCH-${n}` };
    }
    const { total, results } = await courier().prealerts.submitBatch(many(), { idempotencyKey: 'many' });
    expect([total, results.at(-1).line]).toEqual([1_001, 1_001]);
    expect(await errorOf(courier().prealerts.submitBatch(many(), { atomic: true }))).toBeInstanceOf(
      RangeError,
    );
  });
});

describe('the token client', () => {
  test('100 calls at the same time share one login, also when the token is no longer accepted', async () => {
    let logins = 0;
    const counting = (request: Request) => {
      if (request.url.endsWith('/api/login.php')) logins += 1;
      return fetch(request);
    };
    const client = account('manager', { fetch: counting });
    const callAll = () => Promise.all(Array.from({ length: 100 }, () => client.users.twoFactor()));
    await callAll();
    expect(logins).toBe(1);
    await client.users.manageSessions({ action: 'logout' });
    const replies = await callAll();
    expect([logins, replies.length]).toEqual([2, 100]);
  });

  test('a second factor is asked for through the callback', async () => {
    const error = await errorOf(account('guarded').login());
    expect(error).toBeInstanceOf(sdk.CrossdockError);
    const client = account('guarded', { secondFactor: async () => DEMO_BACKUP_CODES[0] });
    const { data } = await client.users.twoFactor();
    expect(data.enabled).toBe(true);
  });

  test('a wrong password is an AuthenticationError, and the next call logs in again', async () => {
    const client = account('manager', { password: 'wrong' });
    for (const _ of [1, 2])
      expect(await errorOf(client.packages.list())).toMatchObject({
        name: 'AuthenticationError',
        status: 401,
        code: 'credentials_invalid',
      });
  });

  test('a function for the token is called again after 401', async () => {
    const tokens = ['not-a-token', await service.tokenOf('admin')];
    const client = new sdk.CrossdockClient({ baseUrl: service.url, token: () => tokens.shift() });
    expect((await client.carriers.list()).status).toBe('success');
    expect(tokens).toEqual([]);
  });

  test('an upload by stream and by Blob has the same result', async () => {
    const client = account('iex');
    const csv = (code: string) =>
      Buffer.from(`user_code,first_name,last_name,branch\n${code},Zoë,"O""Neil",Kingston\n`);
    async function* chunks() {
      for (const byte of csv('SDK-STREAM')) yield Uint8Array.of(byte);
    }
    const stream = await client.customers.upload({ file: chunks(), dry_run: true });
    const blob = await client.customers.upload({ file: new Blob([csv('SDK-BLOB')]), dry_run: true });
    const bytes = await client.customers.upload({ file: csv('SDK-BYTES'), dry_run: true });
    expect([stream.data, bytes.data]).toEqual([blob.data, blob.data]);
    expect(blob.data).toMatchObject({ created: 1, dry_run: true });
  });

  test('a label downloads with its name and type', async () => {
    const [package_id] = DEMO.packages.available.IEX;
    const label = await account('warehouse').packages.label({ package_id });
    expect(label.contentType).toBe('application/pdf');
    expect(label.filename).toMatch(/\.pdf$/);
    expect((await label.text()).slice(0, 5)).toBe('%PDF-');
  });

  test.each([
    ['page numbers without a number of pages', 'customers', { limit: 100 }, 'total'],
    ['page numbers', 'packages', { limit: 100 }, 'meta.total_count'],
    ['a cursor that goes back', 'audit', { limit: 7 }, undefined],
  ])('all records are reached by %s', async (_paging, group, filters, total) => {
    const client = account('admin');
    const keys = new Set<string>();
    let pages = 0;
    for await (const page of client[group].list(filters).pages()) {
      pages += 1;
      for (const record of page.data) keys.add(JSON.stringify(record));
    }
    const first = await client[group].list(filters);
    const records = [];
    for await (const record of client[group].list(filters)) records.push(record);
    expect(pages).toBeGreaterThan(1);
    expect(keys.size).toBe(records.length);
    if (total) expect(keys.size).toBe(total.split('.').reduce((node: Untyped, key) => node[key], first));
  });
});

describe('errors', () => {
  test('an unknown code keeps its text and its class', async () => {
    answerInTurn({
      status: 409,
      body: JSON.stringify({
        ...failure('from_the_future'),
        errors: [{ field: 'a', code: 'b', message: 'c' }],
      }),
    });
    const error = await errorOf(keyClient().prealerts.submit(PREALERT));
    expect(error).toBeInstanceOf(sdk.ConflictError);
    expect(error).toBeInstanceOf(sdk.ApiError);
    expect(error).toMatchObject({
      code: 'from_the_future',
      status: 409,
      requestId: 'r-1',
      errors: [{ field: 'a' }],
    });
  });

  test.each([
    [400, 'InvalidRequestError'],
    [401, 'AuthenticationError'],
    [403, 'PermissionError'],
    [404, 'NotFoundError'],
    [418, 'ApiError'],
    [422, 'InvalidRequestError'],
    [501, 'ServerError'],
  ])('%i is a %s, and is not retried', async (status, name) => {
    answerInTurn({ status });
    expect(await errorOf(keyClient().prealerts.submit(PREALERT))).toMatchObject({ name, status });
    expect(receiver.received).toHaveLength(1);
  });

  test('a duplicate names the existing record', async () => {
    const courier = new sdk.CrossdockKeyClient({ baseUrl: service.url, apiKey: DEMO.apiKeys.IEX });
    const prealert = { UserCode: 'IEX-1001', TrackingNumber: 'SDK-EXISTING' };
    const { data } = await courier.prealerts.submit(prealert);
    const error = await errorOf(courier.prealerts.submit({ ...prealert, UserCode: 'IEX-1002' }));
    expect(error).toBeInstanceOf(sdk.DuplicateError);
    expect(error).toBeInstanceOf(sdk.ConflictError);
    const existing = {
      prealert_id: data.prealert_id,
      user_code: 'IEX-1001',
      status: 'pending',
      differs: true,
    };
    expect(error.existing).toEqual(existing);
    const { results } = await courier.prealerts.submitBatch([prealert]);
    expect(results).toMatchObject([{ status: 'duplicate', existing: { ...existing, differs: false } }]);
  });

  test('an error of a batch has the results before it', async () => {
    const done = Array.from({ length: 250 }, (_, index) => ({ line: index + 1, status: 'created' }));
    answerInTurn(
      { status: 200, body: JSON.stringify({ status: 'success', data: { results: done } }) },
      { status: 403, body: JSON.stringify(failure('key_invalid')) },
    );
    const many = Array.from({ length: 400 }, () => PREALERT);
    const error = await errorOf(keyClient().prealerts.submitBatch(many));
    expect([error.name, error.results]).toEqual(['PermissionError', done]);
    answerInTurn(
      { status: 200, body: JSON.stringify({ status: 'success', data: { results: done } }) },
      { status: 403, body: JSON.stringify(failure('key_invalid')) },
    );
    const seen: unknown[] = [];
    const each = async () => {
      for await (const result of keyClient().prealerts.submitEach(many)) seen.push(result);
    };
    expect(await errorOf(each())).toMatchObject({ name: 'PermissionError' });
    expect(seen).toEqual(done);
  });

  test('a batch that was cut on the way is an error with the results of what arrived', async () => {
    const done = [1, 2].map((line) => ({ line, status: 'created' }));
    const half = { status: 200, body: JSON.stringify({ status: 'success', data: { results: done } }) };
    const sent = Array.from({ length: 4 }, () => PREALERT);
    for (const atomic of [false, true]) {
      answerInTurn(half);
      const error = await errorOf(keyClient().prealerts.submitBatch(sent, { atomic }));
      expect([error.name, error.results]).toEqual(['IncompleteBatchError', done]);
    }
  });

  test.each([
    ['baseUrl', () => new sdk.CrossdockKeyClient({ baseUrl: undefined, apiKey: 'a' })],
    ['apiKey', () => new sdk.CrossdockKeyClient({ baseUrl: receiver.url, apiKey: undefined })],
    ['apiKey', () => new sdk.CrossdockKeyClient({ baseUrl: receiver.url })],
    ['username', () => account(undefined as never)],
    ['password', () => account('iex', { password: '' })],
    ['token', () => new sdk.CrossdockClient({ baseUrl: receiver.url, token: null })],
  ])('a missing %s is a clear error', (name, create) => {
    expect(create).toThrow(sdk.CrossdockError);
    expect(create).toThrow(
      new RegExp(`^${name} is (undefined|null|empty)\\. Check the environment variable`),
    );
  });

  test('a redirect is a failure, so that the API key goes to no other host', async () => {
    answerInTurn({ status: 307, headers: { location: `${service.url}/api/Prealert.php` } });
    expect(await errorOf(keyClient().prealerts.submit(PREALERT))).toMatchObject({ name: 'ApiError' });
    expect(receiver.received).toHaveLength(1);
  });

  test('a page of a proxy is an error with its status', async () => {
    answerInTurn({ status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' });
    const error = await errorOf(keyClient({ maxRetries: 0 }).prealerts.submit(PREALERT));
    expect(error).toMatchObject({
      name: 'ServerError',
      status: 502,
      code: 'unexpected_response',
      body: '<h1>Bad gateway</h1>',
    });
  });

  test('a truncated response is a ConnectionError', async () => {
    receiver.answer = (_request, response) => {
      response.writeHead(201, { 'content-length': '500' }).write('{"status":');
      setImmediate(() => response.destroy());
    };
    const error = await errorOf(keyClient({ maxRetries: 0 }).prealerts.submit(PREALERT));
    expect(error).toMatchObject({ name: 'ConnectionError', cause: expect.anything() });
  });
});

describe('retries', () => {
  const keys = () => receiver.received.map(({ headers }) => headers['idempotency-key']);

  test('a write is repeated with the same key and body, after the seconds or until the date of Retry-After', async () => {
    const date = () => new Date(Date.now() + 1_500).toUTCString();
    answerInTurn(
      { status: 503, headers: { 'retry-after': '0' } },
      { status: 429, headers: { 'retry-after': date() } },
      { status: 201 },
    );
    await keyClient().prealerts.submit(PREALERT);
    expect(new Set(keys()).size).toBe(1);
    expect(keys()[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(receiver.received.map(({ body }) => body))).toEqual(new Set([JSON.stringify(PREALERT)]));
    const [first, second, third] = receiver.received.map(({ atMs }) => atMs);
    // 0 seconds are less than the pause before the first retry.
    expect(Number(second) - Number(first)).toBeGreaterThan(490);
    // A date has whole seconds: 0.5 s remain at least, and the pause is longer.
    expect(Number(third) - Number(second)).toBeGreaterThan(990);
  });

  test('two writes have two keys; a key of the caller is used', async () => {
    answerInTurn({ status: 201 });
    await keyClient().prealerts.submit(PREALERT);
    await keyClient().prealerts.submit(PREALERT, { idempotencyKey: 'mine' });
    expect(new Set(keys()).size).toBe(2);
    expect(keys()[1]).toBe('mine');
  });

  test('without Retry-After the delay grows; after the last retry the error is thrown', async () => {
    answerInTurn({ status: 503 });
    expect(await errorOf(keyClient({ maxRetries: 2 }).prealerts.submit(PREALERT))).toMatchObject({
      status: 503,
    });
    const at = receiver.received.map(({ atMs }) => atMs);
    const [first = 0, second = 0] = at.slice(1).map((atMs, index) => atMs - Number(at[index]));
    expect(at).toHaveLength(3);
    expect(first).toBeGreaterThan(490);
    expect(second).toBeGreaterThan(990);
  });

  test('a Retry-After of hours is not waited for', async () => {
    answerInTurn({ status: 429, headers: { 'retry-after': '3600' } });
    expect(await errorOf(keyClient().prealerts.submit(PREALERT))).toMatchObject({
      name: 'RateLimitError',
      retryAfterMs: 3_600_000,
    });
    expect(receiver.received).toHaveLength(1);
  });

  test('after 502 a write without a key is not repeated; a read is, and one that replaces', async () => {
    const client = new sdk.CrossdockClient({ baseUrl: receiver.url, token: 'x', maxRetries: 1 });
    answerInTurn({ status: 502 });
    await errorOf(client.users.changePassword({ current_password: 'a', new_password: 'b' }));
    await errorOf(client.prealerts.delete({ prealert_id: randomUUID() }));
    expect(receiver.received).toHaveLength(2);
    receiver.received.splice(0);
    await Promise.all([
      errorOf(client.carriers.list()),
      errorOf(client.prealerts.replace({ prealert_id: randomUUID() })),
      errorOf(client.packages.resolveScan({ scan: '1Z' })),
    ]);
    expect(receiver.received).toHaveLength(6);
    expect(keys()).toEqual(Array.from({ length: 6 }, () => undefined));
  });

  test('without a connection everything is repeated, because nothing was sent', async () => {
    const baseUrl = `http://127.0.0.1:${await freePort()}`;
    const client = new sdk.CrossdockClient({ baseUrl, token: 'x', maxRetries: 1 });
    const startMs = performance.now();
    const error = await errorOf(client.prealerts.delete({ prealert_id: randomUUID() }));
    expect(error).toMatchObject({ name: 'ConnectionError', wasSent: false });
    expect(performance.now() - startMs).toBeGreaterThan(490);
  });

  test('a list of packages has a key, because it can queue them', async () => {
    answerInTurn({ status: 502 }, { status: 200 });
    const client = new sdk.CrossdockClient({ baseUrl: receiver.url, token: 'x' });
    await client.packages.list({ action: 'queue_dispatch' });
    expect(keys()).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys()[0]]);
  });

  test('a login is repeated', async () => {
    const grant = JSON.stringify({ status: 'success', data: { access_token: 'token' } });
    answerInTurn({ status: 503, headers: { 'retry-after': '0' } }, { status: 200, body: grant });
    const client = new sdk.CrossdockClient({ baseUrl: receiver.url, username: 'a', password: 'b' });
    expect(await client.login()).toEqual({ access_token: 'token' });
    expect(receiver.received).toHaveLength(2);
    expect(() => new sdk.CrossdockClient({ baseUrl: '/api', token: 'x' })).toThrow(sdk.CrossdockError);
  });

  test('the stream of an upload is not sent twice', async () => {
    const client = new sdk.CrossdockClient({ baseUrl: receiver.url, token: 'x', maxRetries: 1 });
    answerInTurn({ status: 503, headers: { 'retry-after': '0' } });
    async function* chunks() {
      yield Buffer.from('a');
    }
    await errorOf(client.customers.upload({ file: chunks() }));
    expect(receiver.received).toHaveLength(1);
    await errorOf(client.customers.upload({ file: new Blob(['a']) }));
    expect(receiver.received).toHaveLength(3);
  });

  test('a lost connection is a ConnectionError after the retries, a slow response a TimeoutError', async () => {
    receiver.answer = (_request, response) => response.destroy();
    expect(await errorOf(keyClient({ maxRetries: 1 }).prealerts.submit(PREALERT))).toMatchObject({
      name: 'ConnectionError',
    });
    expect(receiver.received).toHaveLength(2);
    receiver.answer = () => undefined;
    const error = await errorOf(keyClient({ maxRetries: 0, timeoutMs: 50 }).prealerts.submit(PREALERT));
    expect(error).toBeInstanceOf(sdk.TimeoutError);
  });

  test('a signal cancels the request and the wait before a retry', async () => {
    receiver.answer = () => undefined;
    const reason = new Error('The user left.');
    const controller = new AbortController();
    const waiting = errorOf(keyClient().prealerts.submit(PREALERT, { signal: controller.signal }));
    await until(async () => receiver.received.length > 0);
    controller.abort(reason);
    expect(await waiting).toBe(reason);
    answerInTurn({ status: 503, headers: { 'retry-after': '30' } });
    const signal = AbortSignal.timeout(100);
    expect(await errorOf(keyClient().prealerts.submit(PREALERT, { signal }))).toMatchObject({
      name: 'TimeoutError',
    });
    expect(receiver.received).toHaveLength(2);
  });
});

describe('verifyWebhook', () => {
  const secret = `whsec_${Buffer.from('a secret of 24 bytes ....').toString('base64')}`;
  const other = `whsec_${Buffer.from('another secret of 24 b....').toString('base64')}`;
  const body = JSON.stringify({ type: 'webhook.test', data: { message: 'Grüße' } });
  const signed = (sentAt = new Date(), secrets = [secret]) => ({
    'webhook-id': 'msg-1',
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
    'webhook-signature': secrets.map((each) => new Webhook(each).sign('msg-1', sentAt, body)).join(' '),
  });

  test('accepts what the service signs: text, bytes, Headers, several signatures, several secrets', async () => {
    const event = JSON.parse(body);
    expect(await sdk.verifyWebhook(body, signed(), secret)).toEqual(event);
    expect(await sdk.verifyWebhook(Buffer.from(body), new Headers(signed()), secret)).toEqual(event);
    expect(await sdk.verifyWebhook(new Uint8Array(Buffer.from(body)).buffer, signed(), secret)).toEqual(
      event,
    );
    expect(await sdk.verifyWebhook(body, signed(new Date(), [other, secret]), secret)).toEqual(event);
    expect(await sdk.verifyWebhook(body, signed(), [other, secret])).toEqual(event);
    const node = Object.fromEntries(
      Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), [value]]),
    );
    expect(await sdk.verifyWebhook(body, node, secret)).toEqual(event);
  });

  const headers = signed();
  const minutesAgo = (minutes: number) => signed(new Date(Date.now() - minutes * 60_000));
  test.each([
    ['a changed body', body.replace('G', 'g'), headers, secret],
    ['a changed id', body, { ...headers, 'webhook-id': 'msg-2' }, secret],
    [
      'a changed time',
      body,
      { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) },
      secret,
    ],
    ['another secret', body, headers, other],
    ['an old webhook', body, minutesAgo(6), secret],
    ['a webhook of the future', body, minutesAgo(-60), secret],
    ['no signature', body, { ...headers, 'webhook-signature': undefined }, secret],
    [
      'another version of signatures',
      body,
      { ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1,', 'v2,') },
      secret,
    ],
    ['a signature that is not base64', body, { ...headers, 'webhook-signature': 'v1,***' }, secret],
    ['a time that is no number', body, { ...headers, 'webhook-timestamp': 'NaN' }, secret],
    ['an empty secret', body, headers, 'whsec_'],
  ])('rejects %s', async (_case, payload, given, key) => {
    expect(await errorOf(sdk.verifyWebhook(payload, given, key))).toMatchObject({
      name: 'WebhookVerificationError',
    });
  });

  test.each([[undefined], [null], [''], [[]], [[secret, undefined]]])(
    'a missing secret is a clear error: %p',
    async (missing) => {
      const error = await errorOf(sdk.verifyWebhook(body, signed(), missing));
      expect(error).toMatchObject({ name: 'CrossdockError', message: expect.stringContaining('secret') });
    },
  );

  test('the tolerance can be changed', async () => {
    expect(await sdk.verifyWebhook(body, minutesAgo(6), secret, { toleranceSeconds: 3_600 })).toEqual(
      JSON.parse(body),
    );
  });
});

test('100 MB are uploaded and downloaded without being held in memory', async () => {
  const size = 100 * 1024 * 1024;
  let received = 0;
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => (received += chunk.length));
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/csv', 'content-length': String(size) });
      const chunk = Buffer.alloc(1024 * 1024);
      let left = 100;
      const send = () => {
        while (left-- > 0) if (!response.write(chunk)) return response.once('drain', send);
        return response.end();
      };
      return send();
    }
    return request.on('end', () =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"success","data":{}}'),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const program = join(projectRoot, 'test/sdk/programs/streams.mjs');
  const command = { program: process.execPath, args: [program, folder, url, String(size)], folder };
  const { code, output } = await runProgram(command, {}, () => undefined);
  server.closeAllConnections();
  server.close();
  expect([code, output]).toEqual([0, expect.stringMatching(/^\{/)]);
  const { downloaded, grownBytes } = JSON.parse(output);
  expect(received).toBeGreaterThan(size);
  expect(downloaded).toBe(size);
  expect(grownBytes).toBeLessThan(size * 0.75);
}, 60_000);
