import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../fixtures/demo/seed.js';
import type { UserCaller } from '../../src/platform/identity/callers.js';
import { makeCouriers, type Belongings, type CourierCode } from '../support/builders/couriers.js';
import { fingerprint } from '../support/readers/fingerprint.js';
import { operationOf } from '../support/service/contract.js';
import { startService, type Call, type Service } from '../support/service/service.js';
import { CALLS } from './authorization/calls.js';
import { rows } from './authorization/matrix.js';

let service: Service;
let couriers: Record<CourierCode, Belongings>;

beforeAll(async () => {
  service = await startService();
  couriers = await makeCouriers(service.owner);
});
afterAll(() => service.stop());

type Claimed = Partial<Pick<UserCaller, 'tenantId' | 'role' | 'courierId'>>;

/** Claims that a thief of the token key, or a user whose rights have changed, can send. Everything else is from a real token. */
const CLAIMS: [who: string, claimed: Claimed, host?: string][] = [
  ['iex', { role: 'admin', courierId: null }],
  ['iex', { role: 'warehouse' }],
  ['iex', { courierId: DEMO.couriers.HRB }],
  ['iex', { courierId: null }],
  ['iex', { tenantId: DEMO.tenants.two, role: 'admin', courierId: null }, DEMO.hosts.two],
  ['warehouse', { role: 'admin' }],
  ['warehouse', { role: 'courier', courierId: DEMO.couriers.IEX }],
  ['admin', { role: 'manager' }],
  ['admin', { courierId: DEMO.couriers.IEX }],
  ['admin', { tenantId: DEMO.tenants.two }, DEMO.hosts.two],
];

async function forge(user: string, claimed: Claimed): Promise<string> {
  const own = service.app.tokens.read(await service.tokenOf(user));
  return service.app.tokens.issue({ ...own, ...claimed }, Math.floor(Date.now() / 1000));
}

const outcomeOf = async (row: (typeof rows)[number], call: Call) => {
  const { status, body } = await service.call(row.operation, call);
  return `${status} ${String(body['code'])}`;
};

const authenticated = rows.filter(({ operation }) => operationOf(operation).credential === 'token');

test.each(authenticated.map((row) => [row.title, row] as const))(
  'a token with another role, courier or tenant than the user is refused by %s',
  async (title, row) => {
    const calls: Call[] = [];
    for (const [user, claimed, host] of CLAIMS) {
      const made = await CALLS[title](couriers.IEX, couriers.IEX, service);
      calls.push({ ...made, token: await forge(user, claimed), ...(host ? { host } : {}) });
    }
    const before = await fingerprint(service.owner);
    const outcomes: string[] = [];
    for (const call of calls) outcomes.push(await outcomeOf(row, call));
    expect(outcomes).toEqual(CLAIMS.map(() => '401 token_invalid'));
    expect(await fingerprint(service.owner)).toEqual(before);
  },
);

test.each<[string, string, { role: string; courier_id?: string }]>([
  ['another role', 'warehouse', { role: 'manager' }],
  ['another courier', 'hrb', { role: 'courier', courier_id: DEMO.couriers.IEX }],
])('a user who got %s cannot call any operation with the old token', async (_what, user, rights) => {
  const token = await service.freshTokenOf(user);
  const changed = { action: 'change_role', user_id: service.app.tokens.read(token).userId, ...rights };
  expect((await service.call('manageUsers', { as: 'admin', body: changed })).status).toBe(200);
  const outcomes: string[] = [];
  for (const row of authenticated) {
    const made = await CALLS[row.title](couriers.IEX, couriers.IEX, service);
    outcomes.push(`${row.title}: ${await outcomeOf(row, { ...made, token })}`);
  }
  expect(outcomes).toEqual(authenticated.map(({ title }) => `${title}: 401 token_invalid`));
});

test('an old token is refused where only the row has changed, and works again with the old rights', async () => {
  const token = await service.freshTokenOf('manager');
  const read = async () => (await service.call('listPackages', { token, body: { limit: 1 } })).status;
  const setRole = (role: string) =>
    service.owner.query('update users set role = $1 where id = $2', [role, DEMO.users.manager]);
  expect(await read()).toBe(200);
  await setRole('warehouse');
  expect(await read()).toBe(401);
  await setRole('manager');
  expect(await read()).toBe(200);
});

test('a stored response is not repeated for a token with a forged role', async () => {
  const call = {
    body: { action: 'create', name: 'Carrier of a key' },
    headers: { 'idempotency-key': 'a-key-of-rights' },
  };
  expect((await service.call('manageCarriers', { ...call, as: 'admin' })).status).toBe(200);
  const token = await forge('admin', { role: 'manager' });
  expect((await service.call('manageCarriers', { ...call, token })).status).toBe(401);
});

test.each<[string, object]>([
  ['a courier that is not a UUID', { courierId: 'x' }],
  ['a role that is not a text', { role: 1 }],
  ['an unknown role', { role: 'root' }],
  ['a user that is not a UUID', { userId: 'x' }],
  ['a session that is not a UUID', { sessionId: 'x' }],
  ['a version that is no integer of PostgreSQL', { tokenVersion: 2 ** 40 }],
])('a token with %s is refused with 401', async (_what, claimed) => {
  const own = service.app.tokens.read(await service.tokenOf('admin'));
  // The type forbids these claims; a thief of the key can sign them.
  const token = service.app.tokens.issue({ ...own, ...(claimed as Claimed) }, Math.floor(Date.now() / 1000));
  const { status, body } = await service.call('listUsers', { token });
  expect([status, body['code']]).toEqual([401, 'token_invalid']);
});
