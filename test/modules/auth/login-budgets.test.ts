import { expect, test } from '@jest/globals';
import { makeLoginLimiter } from '../../../src/platform/limits/login-limiter.js';
import { makeNetworkBudget } from '../../../src/platform/limits/network-budget.js';
import { makeKnownNetworks } from '../../../src/platform/limits/shared/known-networks.js';
import { makeOwnLimits } from '../../../src/platform/limits/shared/shared-limits.js';
import { networksOf } from '../../../src/platform/values/network-address.js';
import { withService } from '../../support/fixture/with-service.js';

// What one network, one line and one site of IPv6 may fail, and which networks are known.

const { api, service } = withService(() => ({ env: { TRUST_PROXY: '127.0.0.1' } }));
const attempt = (username: string, address: string) =>
  api.anonymous
    .login(
      { action: 'login', username, password: 'a wrong password' },
      { headers: { 'x-forwarded-for': address } },
    )
    .status();

const ctx = { tenantId: 'tenant', noteRateLimit: () => undefined };
const ofLine = (n: number, line = 0) => `2001:db8:1:${(line * 256 + n).toString(16)}::1`;

test.each([
  ['2001:db8:1:2345::1', '2001:db8:1::/48', '2001:db8:1:2300::/56', '2001:db8:1:2345'],
  ['::1', '::/48', '::/56', '0:0:0:0'],
  ['192.0.2.7', '192.0.2.0/24', '192.0.2.0/24', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.0/24', '192.0.2.0/24', '192.0.2.7'],
  ['nonsense', 'nonsense', 'nonsense', 'nonsense'],
])('%s is in the networks %s, %s and %s', (address, block, line, network) => {
  expect(networksOf(address)).toEqual({ block, line, network });
});

test('a /56 may fail 250 logins and a /48 1,000, and a network where a user has logged in keeps its own 50', async () => {
  const limiter = makeLoginLimiter(1);
  const fail = async (address: string, times: number) => {
    for (let n = 0; n < times; n += 1) await limiter.countFailure('tenant', address);
  };
  const known = ofLine(200);
  limiter.noteLogin('tenant', 'user', known);
  for (let n = 0; n < 6; n += 1) await fail(ofLine(n), n < 5 ? 49 : 4);
  await limiter.assertMayTry(ctx, ofLine(100));
  await fail(ofLine(5), 1);
  await expect(limiter.assertMayTry(ctx, ofLine(100))).rejects.toMatchObject({
    code: 'too_many_attempts',
    detail: { limit: { policy: 'login-failures-per-address-56', quota: 250 } },
  });
  await limiter.assertMayTry(ctx, known);
  await limiter.assertMayTry({ ...ctx, tenantId: 'other tenant' }, ofLine(100));

  const otherLine = ofLine(0, 77);
  for (let line = 1; line < 16; line += 1) await fail(ofLine(1, line), 49);
  await limiter.assertMayTry(ctx, otherLine);
  await fail(ofLine(1, 16), 15);
  await expect(limiter.assertMayTry(ctx, otherLine)).rejects.toMatchObject({
    detail: { limit: { policy: 'login-failures-per-address-48', quota: 1_000 } },
  });
  await limiter.assertMayTry(ctx, '2001:db8:2::1');
  await fail(known, 50);
  await expect(limiter.assertMayTry(ctx, known)).rejects.toMatchObject({
    detail: { limit: { policy: 'login-failures-per-address' } },
  });
});

test('the addresses of an IPv4 /24 have separate budgets', async () => {
  const budget = makeNetworkBudget(makeOwnLimits(), { policy: 'test', quota: 2, windowSeconds: 60 });
  for (let n = 0; n < 200; n += 1)
    expect(await budget.consume({ tenantId: 't', address: `192.0.2.${n}` })).toMatchObject({ remaining: 1 });
});

test('a /56 consumes five times what a network may, and a refusal of a network counts for no other', async () => {
  const budget = makeNetworkBudget(makeOwnLimits(), { policy: 'test', quota: 2, windowSeconds: 60 });
  const consume = (address: string) => budget.consume({ tenantId: 't', address });
  for (let n = 0; n < 4; n += 1) for (let time = 0; time < 2; time += 1) await consume(ofLine(n));
  for (let n = 0; n < 20; n += 1)
    await expect(consume(ofLine(0))).rejects.toMatchObject({ detail: { limit: { policy: 'test' } } });
  for (let n = 4; n < 6; n += 1) await consume(ofLine(n));
  await expect(consume(ofLine(6))).rejects.toMatchObject({ detail: { limit: { policy: 'test-56' } } });
});

test('a user keeps eight known networks, and a tenant with many users displaces its own', () => {
  const known = makeKnownNetworks();
  const has = (network: string, tenant = 'large') => known.has({ tenant, network });
  known.note({ tenant: 'small', user: 'u', network: 'office' });
  for (let n = 0; n < 300; n += 1) known.note({ tenant: 'small', user: 'v', network: `n${n}` });
  expect(Array.from({ length: 300 }, (_, n) => n).filter((n) => has(`n${n}`, 'small'))).toHaveLength(8);
  known.note({ tenant: 'large', user: 'first', network: 'first' });
  known.note({ tenant: 'large', user: 'second', network: 'first' });
  for (let n = 0; n < 10_000; n += 1) known.note({ tenant: 'large', user: `u${n}`, network: `n${n}` });
  expect([has('first'), has('n0'), has('n9999'), has('office', 'small'), has('office')]).toEqual([
    false,
    false,
    true,
    true,
    false,
  ]);
});

test('of 80 attempts of an address on a locked name, 30 cost a transaction; other names and addresses are served', async () => {
  for (let n = 0; n < 5; n += 1) expect(await attempt('nobody', '192.0.2.1')).toBe(401);
  const started = () => service().db.connectionShares.countStarted();
  const before = started();
  for (let n = 0; n < 80; n += 1) expect(await attempt('Nobody', '192.0.2.1')).toBe(429);
  expect(started() - before).toBe(30);
  expect(await attempt('nobody', '192.0.2.2')).toBe(429);
  expect(started() - before).toBe(31);
  expect(await attempt('somebody', '192.0.2.1')).toBe(401);
});

test('attempts on a locked name from around a known network do not use up what it has', async () => {
  const limiter = makeLoginLimiter(1);
  const [known, unknown] = [ofLine(200), ofLine(100)];
  limiter.noteLogin('tenant', 'user', known);
  for (let n = 0; n < 150; n += 1) await limiter.countLocked('tenant', 'manager', ofLine(n % 6));
  await limiter.assertMayTryName('tenant', 'manager', known);
  await expect(limiter.assertMayTryName('tenant', 'manager', unknown)).rejects.toMatchObject({
    detail: { limit: { policy: 'locked-name-attempts-per-address-56', quota: 150 } },
  });
  for (let n = 0; n < 30; n += 1) await limiter.countLocked('tenant', 'manager', known);
  await expect(limiter.assertMayTryName('tenant', 'manager', known)).rejects.toMatchObject({
    detail: { limit: { policy: 'locked-name-attempts-per-address' } },
  });
});

test('only a login makes a network known, and only for its tenant', async () => {
  const limits = makeOwnLimits();
  const limiter = makeLoginLimiter(1, limits);
  await limiter.countFailure('t', '192.0.2.1');
  expect(await limits.knownNetworks.has({ tenant: 't', network: '192.0.2.1' })).toBe(false);
  limiter.noteLogin('t', 'user', '192.0.2.1');
  expect(await limits.knownNetworks.has({ tenant: 't', network: '192.0.2.1' })).toBe(true);
  expect(await limits.knownNetworks.has({ tenant: 'u', network: '192.0.2.1' })).toBe(false);
});
