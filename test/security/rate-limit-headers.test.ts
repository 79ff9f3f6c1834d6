import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../fixtures/demo/seed.js';
import { newServiceToken, readServiceToken } from '../../src/platform/access/service-tokens.js';
import { describeOperation, operationIds } from '../support/service/contract.js';
import { serviceTokenOf } from '../support/service/principals.js';
import { startService, type Call, type Reply, type Service } from '../support/service/service.js';

const PER_MINUTE = 5;

const policiesOf = ({ headers }: Reply) => headers.get('ratelimit-policy');
const limitsOf = ({ headers }: Reply) => headers.get('ratelimit');

/** Returns the remaining quota and the seconds of one policy. */
function usageOf(reply: Reply, policy: string): { remaining: number; seconds: number } {
  const [, remaining, seconds] =
    new RegExp(`"${policy}";r=(\\d+);t=(\\d+)`).exec(limitsOf(reply) ?? '') ?? [];
  return { remaining: Number(remaining), seconds: Number(seconds) };
}

describe('without a configured request limit', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService({ env: { CUSTOMER_CHANGES_PER_DAY: '3' } });
  });

  afterAll(async () => {
    await service.stop();
  });

  test('a response has no rate limit headers if no limit applies', async () => {
    const replies = await Promise.all([
      service.call('listCustomers', { as: 'iex' }),
      service.call('listCustomers', {}),
      service.call('getHealth', {}),
    ]);
    for (const reply of replies) expect([policiesOf(reply), limitsOf(reply)]).toEqual([null, null]);
  });

  test('a quota is described on successes and on 429, with what is left', async () => {
    const create = (n: number) =>
      service.call('createCustomer', {
        as: 'iex',
        body: { user_code: `LIMIT-${n}`, first_name: 'A', last_name: 'B' },
      });
    for (const [n, remaining] of [2, 1, 0].entries()) {
      const reply = await create(n);
      expect([reply.status, policiesOf(reply)]).toEqual([
        200,
        '"customer-changes";q=3;qu="customers";w=86400',
      ]);
      expect(usageOf(reply, 'customer-changes').remaining).toBe(remaining);
    }
    const refused = await create(3);
    expect([refused.status, refused.body['code']]).toEqual([429, 'quota_exceeded']);
    const { remaining, seconds } = usageOf(refused, 'customer-changes');
    expect([remaining, String(seconds)]).toEqual([0, refused.headers.get('retry-after')]);
    // A read does not count.
    expect(policiesOf(await service.call('listCustomers', { as: 'iex' }))).toBeNull();
  });

  test('new hosts and webhook tests are described with their hourly quotas', async () => {
    const body = { api_url_add_package: 'https://limits.example.com/a' };
    const saved = await service.call('updateCourierSettings', { as: 'iex', body });
    expect(policiesOf(saved)).toBe('"url-changes";q=30;qu="hosts";w=3600');
    expect(usageOf(saved, 'url-changes')).toMatchObject({ remaining: 29 });
    const sent = await service.call('manageWebhookDeliveries', {
      as: 'iex',
      body: { action: 'send_test', endpoint: 'add_package' },
    });
    expect(policiesOf(sent)).toBe('"webhook-sends";q=300;qu="webhooks";w=3600');
    expect(usageOf(sent, 'webhook-sends').remaining).toBe(299);
  });

  test('an invalid key is described with what its address has left, and a valid one is not limited', async () => {
    const body = { UserCode: 'IEX-1001', TrackingNumber: 'LIMIT-KEY' };
    const refused = await service.call('submitPrealert', { key: 'f'.repeat(64), body });
    expect([refused.status, policiesOf(refused)]).toEqual([403, '"invalid-keys-per-address";q=300;w=900']);
    expect(usageOf(refused, 'invalid-keys-per-address').remaining).toBe(299);
    const accepted = await service.call('submitPrealert', { key: DEMO.apiKeys.IEX, body });
    expect([accepted.status, policiesOf(accepted)]).toEqual([201, null]);
  });
});

describe('the headers of logins', () => {
  const POLICIES = '"login-failures-per-user";q=5;w=900, "login-failures-per-address";q=50;w=900';
  let service: Service;

  beforeAll(async () => {
    service = await startService();
  });

  afterAll(async () => {
    await service.stop();
  });

  const logIn = (username: string, password: string) =>
    service.call('login', { body: { action: 'login', username, password } });

  const headersOf = (reply: Reply) => [
    reply.status,
    policiesOf(reply),
    limitsOf(reply)?.replace(/t=\d+/, 't=<seconds>') ?? null,
  ];

  test('are the same for known and unknown users, and count nothing before the lock', async () => {
    const attempts = async (username: string) => {
      const replies: Reply[] = [];
      for (let n = 0; n < 6; n += 1) replies.push(await logIn(username, 'wrong password'));
      return replies.map(headersOf);
    };
    const known = await attempts('hrb');
    expect(known).toEqual(await attempts('nobody-of-this-name'));
    expect(known).toEqual([
      ...Array.from({ length: 5 }, () => [401, POLICIES, null]),
      [429, POLICIES, '"login-failures-per-user";r=0;t=<seconds>'],
    ]);
  });

  test('of a success are those of a failure, so that nobody sees whether another login has reset the count', async () => {
    await logIn('iex', 'wrong password');
    const success = await logIn('iex', DEMO.password);
    expect(headersOf(success)).toEqual([200, POLICIES, null]);
    expect(headersOf(await logIn('iex', 'wrong password'))).toEqual([401, POLICIES, null]);
  });

  test('describe password resets by address with what is left, and by user name without', async () => {
    const reset = (username: string) =>
      service.call('resetPassword', { body: { action: 'request', username } });
    for (const username of ['manager', 'nobody-at-all']) {
      const reply = await reset(username);
      expect(policiesOf(reply)).toBe(
        '"password-resets-per-address";q=20;w=900, "password-resets-per-user";q=5;w=900',
      );
      expect(limitsOf(reply)).toMatch(/^"password-resets-per-address";r=1\d;t=\d+$/);
    }
  });
});

describe('with a configured request limit', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService({ env: { RATE_LIMIT_PER_MINUTE: String(PER_MINUTE) } });
  });

  afterAll(async () => {
    await service.stop();
  });

  test('each response describes it, on successes, failures, files and 429', async () => {
    const calls: [number, Call, 'listCustomers' | 'exportPackagesCsv'][] = [
      [200, {}, 'listCustomers'],
      [400, { query: { limit: 101 } }, 'listCustomers'],
      [200, {}, 'exportPackagesCsv'],
      [200, {}, 'listCustomers'],
    ];
    // The login below counts against the address, not against the user.
    for (const [n, [status, call, id]] of calls.entries()) {
      const reply = await service.call(id, { as: 'iex', ...call });
      expect([reply.status, policiesOf(reply)]).toEqual([status, `"requests";q=${PER_MINUTE};w=60`]);
      const { remaining, seconds } = usageOf(reply, 'requests');
      expect([remaining, seconds > 0 && seconds <= 60]).toEqual([PER_MINUTE - 1 - n, true]);
    }
    await service.call('listCustomers', { as: 'iex' });
    const refused = await service.call('listCustomers', { as: 'iex' });
    expect([refused.status, refused.body['code']]).toEqual([429, 'rate_limited']);
    const { remaining, seconds } = usageOf(refused, 'requests');
    expect([remaining, String(seconds)]).toEqual([0, refused.headers.get('retry-after')]);
  });

  test('each service token has the limit of its own, which nobody who only knows its id can use up', async () => {
    const tokens = [
      await serviceTokenOf(service, 'hrb', ['packages:read']),
      await serviceTokenOf(service, 'admin', ['packages:read']),
    ];
    const remaining = async (token: string | undefined) =>
      usageOf(await service.call('listPackages', { token: token ?? '' }), 'requests').remaining;
    const [own] = tokens;
    const claims = readServiceToken(own ?? '');
    if (!claims) throw new Error('The token is damaged.');
    for (let n = 0; n < PER_MINUTE; n += 1)
      expect((await service.call('listPackages', { token: newServiceToken(claims) })).status).toBe(401);
    expect(await remaining(own)).toBe(PER_MINUTE - 1);
    expect(await remaining(own)).toBe(PER_MINUTE - 2);
    expect(await remaining(tokens[1])).toBe(PER_MINUTE - 1);
  });

  test('a request without a valid credential is not counted, and has no headers', async () => {
    expect(limitsOf(await service.call('listCustomers', { token: 'no.such.token' }))).toBeNull();
  });
});

test('the contract declares both headers for each response of each operation that can respond with 429', () => {
  const missing = operationIds.flatMap((id) => {
    const { responses } = describeOperation(id);
    if (!responses['429']) return [];
    return Object.entries(responses)
      .filter(([, { headers = {} }]) => !headers['RateLimit-Policy'] || !headers['RateLimit'])
      .map(([status]) => `${id} ${status}`);
  });
  expect(missing).toEqual([]);
});
