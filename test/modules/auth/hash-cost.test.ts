import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newId } from '../../../src/platform/values/ids.js';
import { withService } from '../../support/fixture/with-service.js';
import { randomAddress } from '../../support/sign-in/random-address.js';

/** The configured cost was raised after the users got their passwords. */
const STORED = 9;
const CONFIGURED = 12;

const { api, service } = withService(() => ({
  env: { TRUST_PROXY: '127.0.0.1', PASSWORD_HASH_COST: String(CONFIGURED) },
}));
beforeAll(async () => {
  oldHash = await bcrypt.hash(DEMO.password, STORED);
  await service().owner.query('update users set password_hash = $1', [oldHash]);
}, 60_000);
let oldHash: string;

const uniqueName = () => `cost-${randomBytes(4).toString('hex')}`;

async function makeUser(fields: Record<string, unknown> = {}): Promise<string> {
  const username = uniqueName();
  const row = {
    id: newId(),
    tenant_id: DEMO.tenants.demo,
    username,
    full_name: 'U',
    role: 'manager',
    password_hash: oldHash,
    ...fields,
  };
  const columns = Object.keys(row);
  await service().owner.query(
    `insert into users (${columns.join(', ')}) values (${columns.map((_, n) => `$${n + 1}`).join(', ')})`,
    Object.values(row),
  );
  return username;
}

const logIn = (username: string, password: string = DEMO.password) =>
  api.anonymous.login(
    { action: 'login', username, password },
    { headers: { 'x-forwarded-for': randomAddress() } },
  );

async function rowOf(username: string) {
  const { rows } = await service().owner.query<{ hash: string; version: number; at: Date }>(
    'select password_hash as hash, token_version as version, updated_at as at from users where username = $1',
    [username],
  );
  return rows[0];
}

test('a correct password is hashed with the configured cost, which changes nothing else', async () => {
  const username = await makeUser();
  const before = await rowOf(username);
  expect(await logIn(username, 'a wrong password').status()).toBe(401);
  expect(await rowOf(username)).toEqual(before);
  await logIn(username).ok();
  const after = await rowOf(username);
  expect(bcrypt.getRounds(after?.hash ?? '')).toBe(CONFIGURED);
  expect({ ...after, hash: '' }).toEqual({ ...before, hash: '' });
  await logIn(username).ok();
  expect(await rowOf(username)).toEqual(after);
  expect(await logIn(username, 'a wrong password').status()).toBe(401);
});

test('an expired one-time password is not hashed again', async () => {
  const username = await makeUser({ must_change_password: true, password_expires_at: new Date(0) });
  expect(await logIn(username).status()).toBe(401);
  expect((await rowOf(username))?.hash).toBe(oldHash);
});

test('logins of one user at the same time all succeed while its hash is replaced', async () => {
  const username = await makeUser();
  const replies = await Promise.all(Array.from({ length: 6 }, () => logIn(username).answer()));
  expect(replies.map(({ status }) => status).filter((status) => status !== 200 && status !== 503)).toEqual(
    [],
  );
  expect(replies.map(({ status }) => status)).toContain(200);
  expect(bcrypt.getRounds((await rowOf(username))?.hash ?? '')).toBe(CONFIGURED);
});

test('an unknown name takes the time of most stored hashes, not that of the configured cost', async () => {
  const attempts = [
    async () => logIn(await makeUser(), 'a wrong password').answer(),
    async () => logIn(uniqueName(), 'a wrong password').answer(),
    async () => logIn(await makeUser(), 'x'.repeat(73)).answer(),
    async () => logIn(uniqueName(), 'x'.repeat(73)).answer(),
  ];
  const fastestMs = attempts.map(() => Infinity);
  for (let round = 0; round < 5; round += 1) {
    for (const [index, attempt] of attempts.entries()) {
      const start = performance.now();
      expect((await attempt()).status).toBe(401);
      fastestMs[index] = Math.min(fastestMs[index] ?? Infinity, performance.now() - start);
    }
  }
  // A hash of the configured cost takes eight times as long.
  expect(Math.max(...fastestMs)).toBeLessThan(Math.min(...fastestMs) * 3);
});
