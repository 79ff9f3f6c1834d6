import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newServiceToken } from '../../../src/platform/access/service-tokens.js';
import { openBodySpace, openStrangersBodySpace } from '../../../src/platform/limits/body-space.js';
import type { Space } from '../../../src/platform/limits/byte-space.js';
import { holdBody } from '../../support/attacks/held-bodies.js';
import { withService } from '../../support/fixture/with-service.js';
import { sendRaw } from '../../support/service/wire.js';

// Anybody can announce a body in the name of any tenant, without a credential.

const { service } = withService({ env: { TRUST_PROXY: '127.0.0.1' } });

const KIB = 1024;
const BYTES = 64 * KIB;

/** A request without a credential, of the largest size that one may have. */
const reset = (network: string, host = 'demo.localhost') =>
  holdBody(service().url, {
    path: '/api/PasswordReset.php',
    headers: { host, 'content-type': 'application/json', 'x-forwarded-for': network },
    body: Buffer.from('{'.padEnd(BYTES)),
  });

test('an IPv4 /24 may have 256 KiB of bodies without a credential: more is refused at once', async () => {
  const held = await Promise.all(Array.from({ length: 6 }, (_, n) => reset(`203.0.113.${n}`)));
  const first = await Promise.race(held.map(async ({ reply }) => (await reply)?.status));
  expect(first).toBe(503);
  const other = await reset('198.51.100.7');
  for (const { end } of [...held, other]) await end();
  const statuses = await Promise.all([...held, other].map(async ({ reply }) => (await reply)?.status));
  // What has arrived is no request, and is refused for that.
  expect(statuses.toSorted()).toEqual([400, 400, 400, 400, 400, 503, 503]);
}, 60_000);

test.each([
  ['an API key', () => ({ 'x-api-key': randomBytes(32).toString('hex') })],
  [
    'a service token of a courier',
    () => {
      const token = newServiceToken({ tokenId: randomUUID(), courierId: DEMO.couriers.IEX });
      return { authorization: `Bearer ${token}` };
    },
  ],
])(
  'large bodies with %s that somebody has invented are refused before they take space',
  async (_, credential) => {
    const lines = () =>
      holdBody(service().url, {
        path: '/api/Prealert.php',
        headers: { 'content-type': 'application/x-ndjson', ...credential() },
        body: Buffer.from('{'.padEnd(4 * KIB * KIB)),
      });
    const held = await Promise.all(Array.from({ length: 8 }, lines));
    try {
      // No request has sent its last byte.
      const statuses = await Promise.all(held.map(async ({ reply }) => (await reply)?.status));
      expect(statuses.filter((status) => status !== 401 && status !== 403)).toEqual([]);
      const space = openBodySpace({
        name: `${DEMO.tenants.demo} ${DEMO.couriers.IEX}`,
        tenant: DEMO.tenants.demo,
      });
      space.take(16 * KIB * KIB);
      space.free();
    } finally {
      for (const { leave } of held) leave();
    }
  },
  60_000,
);

test('a network has that space once, however many tenants it names', async () => {
  const hosts = ['demo.localhost', 'two.localhost'];
  const held = await Promise.all(
    Array.from({ length: 6 }, (_, n) => reset('203.0.113.9', hosts[n % hosts.length])),
  );
  const first = await Promise.race(held.map(async ({ reply }) => (await reply)?.status));
  expect(first).toBe(503);
  for (const { end } of held) await end();
  const statuses = await Promise.all(held.map(async ({ reply }) => (await reply)?.status));
  expect(statuses.toSorted()).toEqual([400, 400, 400, 400, 503, 503]);
}, 60_000);

test('a login of unknown length needs none of it, because it cannot be large', async () => {
  const tenant = DEMO.tenants.demo;
  const full = Array.from({ length: 32 }, (_, n) =>
    openStrangersBodySpace({ name: `198.51.${n}.0/24`, tenant }),
  );
  for (const space of full) space.take((8 * KIB * KIB) / full.length);
  try {
    const { status } = await sendRaw(service().url, {
      method: 'POST',
      path: '/api/login.php',
      headers: { 'content-type': 'application/json' },
      // A list is sent in chunks.
      body: [Buffer.from(JSON.stringify({ action: 'login', username: 'manager', password: DEMO.password }))],
    });
    expect(status).toBe(200);
  } finally {
    for (const space of full) space.free();
  }
}, 60_000);

test('bodies without a credential from 100 networks take no space of the callers of their tenant', async () => {
  const tenant = DEMO.tenants.demo;
  const isTaken = (space: Space, bytes: number) => {
    try {
      space.take(bytes);
      return true;
    } catch {
      return false;
    }
  };
  const spaces = Array.from({ length: 1_700 }, (_, n) =>
    openStrangersBodySpace({ name: `203.0.113.${n % 100}`, tenant }),
  );
  try {
    expect(spaces.filter((space) => isTaken(space, BYTES))).toHaveLength((8 * KIB * KIB) / BYTES);
    const courier = openBodySpace({ name: 'a courier', tenant });
    expect(isTaken(courier, 16 * KIB * KIB)).toBe(true);
    courier.free();
    const line = `${JSON.stringify({ UserCode: 'IEX-1001', TrackingNumber: 'STRANGER-1' })}\n`;
    const { status } = await sendRaw(service().url, {
      method: 'POST',
      path: '/api/Prealert.php',
      headers: { 'x-api-key': DEMO.apiKeys.IEX, 'content-type': 'application/x-ndjson' },
      body: line.padEnd(60_000).concat('\n').repeat(16),
    });
    expect(status).toBe(200);
  } finally {
    for (const space of spaces) space.free();
  }
}, 60_000);
