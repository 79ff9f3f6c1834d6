import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { developmentConfig } from '../../support/staging/development.js';
import { withService } from '../../support/fixture/with-service.js';

const { api, service } = withService();

type Json = Record<string, unknown>;

const encode = (value: Json) => Buffer.from(JSON.stringify(value)).toString('base64url');

function decode(part: string | undefined): Json {
  // A token's header and claims are JSON objects.
  return JSON.parse(Buffer.from(part ?? '', 'base64url').toString()) as Json;
}

/** Returns a token of these parts, signed with the secret. */
function sign(header: Json, claims: Json, secret: string, hash = 'sha256'): string {
  const text = `${encode(header)}.${encode(claims)}`;
  return `${text}.${createHmac(hash, secret).update(text).digest('base64url')}`;
}

const statusWith = async (token: string) => await api.withToken(token).getTwoFactor().status();

/** The key that signs tokens in development. */
const [KEY = { id: '', secret: '' }] = developmentConfig({}).tokens.keys;

test('accepts a token signed with the key, so the forged tokens below fail for their own defect', async () => {
  const [header, claims] = (await service().tokenOf('warehouse')).split('.');
  expect(await statusWith(sign(decode(header), decode(claims), KEY.secret))).toBe(200);
});

test.each<[string, (header: Json, claims: Json, signature: string) => string]>([
  [
    'claims of another user and the original signature',
    (header, claims, signature) =>
      `${encode(header)}.${encode({ ...claims, sub: DEMO.users.admin })}.${signature}`,
  ],
  [
    'claims of another role and the original signature',
    (header, claims, signature) => `${encode(header)}.${encode({ ...claims, role: 'admin' })}.${signature}`,
  ],
  [
    'a later expiry and the original signature',
    // The account check compares the user, the role and the courier, so only this shows that the signature is verified.
    (header, claims, signature) =>
      `${encode(header)}.${encode({ ...claims, exp: Number(claims['exp']) + 60 })}.${signature}`,
  ],
  [
    'no algorithm and no signature',
    (header, claims) => `${encode({ ...header, alg: 'none' })}.${encode(claims)}.`,
  ],
  [
    'no algorithm and a signature',
    (header, claims, signature) => `${encode({ ...header, alg: 'none' })}.${encode(claims)}.${signature}`,
  ],
  ['another key', (header, claims) => sign(header, claims, `${KEY.secret}x`)],
  ['an empty key', (header, claims) => sign(header, claims, '')],
  [
    'a key id that is not configured',
    (header, claims) => sign({ ...header, kid: 'other' }, claims, KEY.secret),
  ],
  [
    'a key id that is an object property',
    (header, claims) => sign({ ...header, kid: '__proto__' }, claims, KEY.secret),
  ],
  ['no key id', ({ kid: _, ...header }, claims) => sign(header, claims, KEY.secret)],
  [
    'an algorithm that the service does not use',
    (header, claims) => sign({ ...header, alg: 'HS512' }, claims, KEY.secret, 'sha512'),
  ],
  ['no expiry', (header, { exp: _, ...claims }) => sign(header, claims, KEY.secret)],
  ['no user', (header, { sub: _, ...claims }) => sign(header, claims, KEY.secret)],
  [
    'another issuer',
    (header, claims) => sign(header, { ...claims, iss: 'crossdock/production' }, KEY.secret),
  ],
  [
    'another audience',
    (header, claims) => sign(header, { ...claims, aud: 'crossdock/production' }, KEY.secret),
  ],
])('rejects a token with %s', async (_what, forge) => {
  const [header, claims, signature = ''] = (await service().tokenOf('warehouse')).split('.');
  expect(await statusWith(forge(decode(header), decode(claims), signature))).toBe(401);
});

test('rejects a token that has expired by the database clock', async () => {
  const [header, claims] = (await service().tokenOf('warehouse')).split('.');
  const { rows } = await service().owner.query('select extract(epoch from now())::int as now_s');
  const withExpiry = (exp: number) => sign(decode(header), { ...decode(claims), exp }, KEY.secret);
  expect(await statusWith(withExpiry(rows[0].now_s - 1))).toBe(401);
  expect(await statusWith(withExpiry(rows[0].now_s + 60))).toBe(200);
});
