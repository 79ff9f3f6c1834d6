import { randomBytes } from 'node:crypto';
import bcrypt from 'bcrypt';
import { expect, test } from '@jest/globals';
import { makeLoginLimiter } from '../../../src/platform/limits/login-limiter.js';
import { countAttempt, passwordThrottle } from '../../../src/platform/limits/stored/login-throttle.js';
import { BACKGROUND } from '../../../src/platform/audit/audit.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { DEMO, DEMO_BACKUP_CODES } from '../../../fixtures/demo/seed.js';
import { networkOf } from '../../../src/platform/values/network-address.js';
import { rounds } from '../../support/harness/effort.js';
import { changeMeanwhile } from '../../support/harness/meanwhile.js';
import { until } from '../../support/service/processes.js';
import { startService, type Reply } from '../../support/service/service.js';
import { makeApi } from '../../support/fixture/api.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';
import { makeAuthenticator } from '../../support/sign-in/authenticator.js';
import { randomAddress } from '../../support/sign-in/random-address.js';

const CALLERS = rounds(60, 200);

const { api, service } = withService({ env: { TRUST_PROXY: '127.0.0.1' } });

const post = (body: unknown) =>
  api.anonymous.login(unchecked(body), { headers: { 'x-forwarded-for': randomAddress() } });
const logIn = (username: string, password: string) => post({ action: 'login', username, password });
const verify = (preauthToken: string, code: string) =>
  post({ action: 'verify_2fa', preauth_token: preauthToken, code });

const count = (replies: Reply[], status: number) => replies.filter((reply) => reply.status === status).length;

function times<Result>(number: number, make: (index: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: number }, (_, index) => make(index)));
}

async function makePreauthTokens(number: number): Promise<string[]> {
  const tokens = Array.from({ length: number }, () => randomBytes(32).toString('base64url'));
  await service().owner.query(
    `insert into preauth_tokens (tenant_id, token_hash, user_id, expires_at)
     select $1, token_hash, $2, now() + interval '5 minutes' from unnest($3::text[]) as token_hash`,
    [
      DEMO.tenants.demo,
      DEMO.users.guarded,
      tokens.map((token) => service().app.secrets.lookupHash(token, 'preauth_token')),
    ],
  );
  return tokens;
}

/** Resets user `guarded`: no failures, no used TOTP step. */
async function resetGuarded(): Promise<void> {
  await service().owner.query('delete from login_throttles');
  await service().owner.query('update users set totp_last_step = null where id = $1', [DEMO.users.guarded]);
}

const { codeOf: codeOfNow } = makeAuthenticator(service);

test(`of ${CALLERS} callers with one preauth token and the right code, one is logged in`, async () => {
  await resetGuarded();
  const [token = ''] = await makePreauthTokens(1);
  const code = await codeOfNow();
  const replies = await times(CALLERS, () => verify(token, code).answer());
  expect(count(replies, 200)).toBe(1);
  expect(count(replies, 500)).toBe(0);
});

test(`of ${CALLERS} callers with one authenticator code and a preauth token each, one is logged in`, async () => {
  await resetGuarded();
  const tokens = await makePreauthTokens(CALLERS);
  const code = await codeOfNow();
  const replies = await times(CALLERS, (index) => verify(tokens[index] ?? '', code).answer());
  expect(count(replies, 200)).toBe(1);
  expect(count(replies, 500)).toBe(0);
});

test(`of ${CALLERS} callers with one backup code and a preauth token each, one is logged in`, async () => {
  await resetGuarded();
  const tokens = await makePreauthTokens(CALLERS);
  const replies = await times(CALLERS, (index) =>
    verify(tokens[index] ?? '', DEMO_BACKUP_CODES[0] ?? '').answer(),
  );
  expect(count(replies, 200)).toBe(1);
  expect(count(replies, 500)).toBe(0);
});

test(`of ${CALLERS} simultaneous wrong codes, at most five are verified`, async () => {
  await resetGuarded();
  const tokens = await makePreauthTokens(CALLERS);
  const replies = await times(CALLERS, (index) => verify(tokens[index] ?? '', 'AAAA-AAAA').answer());
  expect(count(replies, 401)).toBeLessThanOrEqual(5);
  expect(count(replies, 401) + count(replies, 429) + count(replies, 503)).toBe(CALLERS);
});

test(`of ${CALLERS} simultaneous wrong passwords for one user name, at most five are hashed`, async () => {
  const replies = await times(CALLERS, () => logIn('warehouse', 'not-the-password').answer());
  expect(count(replies, 401)).toBeLessThanOrEqual(5);
  expect(count(replies, 401) + count(replies, 429) + count(replies, 503)).toBe(CALLERS);
  const { rows } = await service().owner.query(
    "select failures, locked_until > now() as is_locked from login_throttles where subject = 'warehouse'",
  );
  // On a slow machine the other callers may time out before five are verified.
  expect(rows).toEqual([{ failures: count(replies, 401), is_locked: count(replies, 401) === 5 || null }]);
});

const COUNTED = rounds(200, 1_000);

test(`of ${COUNTED} simultaneous attempts counted in the database, five are admitted across replicas`, async () => {
  const caller = { kind: 'system', tenantId: DEMO.tenants.demo } as const;
  const throttle = passwordThrottle('Somebody');
  const counted = await times(COUNTED, () => {
    const ctx = makeContext(service().db, caller, BACKGROUND);
    return ctx.write([countAttempt(ctx, throttle)]);
  });
  const failures = counted.flatMap(([rows]) => rows).map((row) => row.failures);
  expect(failures.sort()).toEqual([1, 2, 3, 4, 5]);
});

test('40 simultaneous correct logins of one user are not counted as failures', async () => {
  const replies = await times(40, () => logIn('manager', DEMO.password).answer());
  expect(count(replies, 200)).toBeGreaterThan(0);
  expect(count(replies, 200) + count(replies, 503)).toBe(40);
  for (const { status, headers } of replies) if (status === 503) expect(headers.get('retry-after')).toBe('2');
  const { rows } = await service().owner.query("select from login_throttles where subject = 'manager'");
  expect(rows).toEqual([]);
});

const networks = new Map<string, string>();
/** Each name logs in from a network of its own. */
const addressOf = (name: string): string => {
  const known = networks.get(name) ?? `198.18.${networks.size}.1`;
  networks.set(name, known);
  return known;
};

/** A login limiter with no free slot, and a function that frees it. */
function fullLimiter() {
  const limiter = makeLoginLimiter(1);
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const holder = limiter.withLimit('t', 'holder', () => released, addressOf('holder'));
  return { gate: limiter, release, holder };
}

test('a flood of attempts for one name delays only that name, and other names are served next', async () => {
  const { gate: limiter, release, holder } = fullLimiter();
  const order: string[] = [];
  const attempt = (name: string) =>
    limiter.withLimit('t', name, async () => order.push(name), addressOf(name));
  const flood = Array.from({ length: CALLERS }, () => attempt('flood'));
  const others = ['one', 'two', 'three'].map(attempt);
  release();
  const settled = await Promise.allSettled(flood);
  await Promise.all([...others, holder]);
  expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(16 - 3);
  expect(order.slice(0, 4)).toEqual(['flood', 'one', 'two', 'three']);
});

test('a limiter with three slots serves three names at once, and each name one at a time', async () => {
  const limiter = makeLoginLimiter(3);
  const mostAtOnce = async (nameOf: (index: number) => string) => {
    let running = 0;
    const seen = await times(10, (index) =>
      limiter.withLimit(
        't',
        nameOf(index),
        async () => {
          running += 1;
          await new Promise((resolve) => setImmediate(resolve));
          return running--;
        },
        addressOf(nameOf(index)),
      ),
    );
    return Math.max(...seen);
  };
  expect(await mostAtOnce((index) => `name ${index}`)).toBe(3);
  expect(await mostAtOnce((index) => (index % 2 ? 'same' : 'SAME'))).toBe(1);
});

test('the limiter rejects at once if its queue is full, and rejects a waiting attempt after 3 seconds', async () => {
  const { gate: limiter, release, holder } = fullLimiter();
  const start = performance.now();
  const waitedMs = async (name: string) => {
    await expect(limiter.withLimit('t', name, async () => {}, addressOf(name))).rejects.toMatchObject({
      code: 'overloaded',
      detail: { retryAfterSeconds: 2 },
    });
    return performance.now() - start;
  };
  const waits = await times(17, (index) => waitedMs(`name ${index}`));
  expect(waits.filter((ms) => ms < 1_000)).toHaveLength(1);
  expect(Math.max(...waits)).toBeLessThan(4_000);
  release();
  await holder;
});

test('an attempt that throws releases its slot', async () => {
  const limiter = makeLoginLimiter();
  for (let round = 0; round < 20; round += 1) {
    await expect(
      limiter.withLimit('t', 'same', () => Promise.reject(new Error('broken')), addressOf('same')),
    ).rejects.toThrow('broken');
  }
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::1', '0:0:0:0'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:DB8:0:1:2:3:4:5', '2001:db8:0:1'],
  ['fe80::', 'fe80:0:0:0'],
])('counts failures from %s for the network %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test('a flood that the queue refuses starts no transactions', async () => {
  // Hashes of half the service's cost keep the queue full for a second.
  const slow = await startService({ env: { TRUST_PROXY: '127.0.0.1', PASSWORD_HASH_COST: '11' } });
  try {
    // An unknown name takes the time of most stored hashes.
    await slow.owner.query('update users set password_hash = $1', [await bcrypt.hash('a password', 11)]);
    const attempt = async () => {
      const username = randomBytes(8).toString('hex');
      const headers = { 'x-forwarded-for': randomAddress() };
      return makeApi(() => slow)
        .anonymous.login({ action: 'login', username, password: 'wrong' }, { headers })
        .answer();
    };
    let isFull = false;
    const first = times(40, async () => {
      const reply = await attempt();
      isFull ||= reply.status === 503;
      return reply;
    });
    await until(() => Promise.resolve(isFull));
    const before = slow.db.connectionShares.countStarted();
    const flood = await times(60, attempt);
    const started = slow.db.connectionShares.countStarted() - before;
    expect(count(flood, 503)).toBeGreaterThan(50);
    expect(started).toBeLessThan(30);
    await first;
  } finally {
    await slow.stop();
  }
});

test('a user who is moved to another courier during the login is logged in', async () => {
  const move = (courier: string) => ({
    text: "update users set courier_id = $1 where username = 'iex' and tenant_id = $2",
    values: [courier, DEMO.tenants.demo],
  });
  try {
    const reply = await changeMeanwhile(service().owner, move(DEMO.couriers.HRB), () =>
      logIn('iex', DEMO.password).answer(),
    );
    expect([reply.status, reply.data.user.courier_id]).toEqual([200, DEMO.couriers.HRB]);
  } finally {
    const { text, values } = move(DEMO.couriers.IEX);
    await service().owner.query(text, values);
  }
});
