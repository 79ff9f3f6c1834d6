import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { digestOf, newServiceToken } from '../../../src/platform/access/service-tokens.js';
import type { TokenCaller } from '../../../src/platform/identity/callers.js';
import { makeTokenCalls } from './token-calls.js';
import { unchecked } from '../../support/fixture/sent.js';
import { until } from '../../support/service/processes.js';
import { withService } from '../../support/fixture/with-service.js';

const { api, db, service } = withService({ env: { TRUST_PROXY: '127.0.0.1' } });
const { create, packages } = makeTokenCalls(api);

test('pre-alerts of one token share no transaction with those from an address that it does not list', async () => {
  const { secret } = await create('iex', { scopes: ['prealerts:write'], addresses: ['203.0.113.0/24'] });
  const submit = async (address: string, number: string) => {
    const body = { UserCode: 'IEX-1001', TrackingNumber: number };
    const sent = api.withToken(secret).submitPrealert(body, { headers: { 'x-forwarded-for': address } });
    const { status, code } = await sent.answer();
    return `${address} ${status} ${code ?? ''}`;
  };
  const codes = await Promise.all(
    Array.from({ length: 200 }, (_, n) =>
      submit(n % 2 === 0 ? '203.0.113.7' : '198.51.100.7', `SHARED-${n}`),
    ),
  );
  expect(new Set(codes)).toEqual(new Set(['203.0.113.7 201 ', '198.51.100.7 403 address_not_allowed']));
  expect(await db.query("select from prealerts where tracking_number like 'SHARED-%'")).toHaveLength(100);
});

test('a token is known, and shares what its courier may have, once the database has checked it', async () => {
  const { id: tokenId, secret } = await create('iex');
  const callerOf = (text: string): TokenCaller => ({
    kind: 'token',
    tenantId: DEMO.tenants.demo,
    tokenId,
    userId: tokenId,
    courierId: DEMO.couriers.IEX,
    role: 'courier',
    scopes: [],
    address: '192.0.2.1',
    keyHash: service().app.secrets.lookupHash(digestOf(text), 'service_token'),
  });
  const { connectionShares } = service().db;
  const invented = newServiceToken({ tokenId, courierId: DEMO.couriers.IEX });
  await packages(invented).refused(401, 'service_token_invalid');
  expect([invented, secret].map((text) => connectionShares.isKnown(callerOf(text)))).toEqual([false, false]);
  await packages(secret).ok();
  expect([invented, secret].map((text) => connectionShares.isKnown(callerOf(text)))).toEqual([false, true]);
});

test('packages:read does not queue packages for synchronisation, and webhooks:manage does', async () => {
  const reader = api.withToken((await create('iex', { scopes: ['packages:read'] })).secret);
  const manager = api.withToken((await create('iex', { scopes: ['webhooks:manage'] })).secret);
  const before = await db.count('dispatches');
  await reader.listPackages(unchecked({ action: 'queue_dispatch' })).refused(403, 'token_not_accepted');
  await reader.queueDispatch({}).refused(403, 'scope_missing');
  expect(await db.count('dispatches')).toBe(before);
  const { data } = await manager.queueDispatch({}).ok();
  const listed = await manager.listDispatches({ dispatch_id: data.dispatch_id }).ok();
  expect(listed.data).toMatchObject([{ courier_id: DEMO.couriers.IEX }]);
});

test('a token of the staff reads the reconciliation with bills:read, and one of a courier does not', async () => {
  const period = { from: '2026-10-01', to: '2026-10-31' };
  const read = async (as: string) =>
    api.withToken((await create(as, { scopes: ['bills:read'] })).secret).getBillingReconciliation(period);
  await (await read('admin')).ok();
  await (await read('iex')).refused(403, 'permission_denied');
});

test('invented tokens take no turn of the reports of the courier that they claim', async () => {
  const client = await service().owner.connect();
  const claims = { tokenId: randomUUID(), courierId: DEMO.couriers.IEX };
  try {
    await client.query('begin');
    await client.query('lock table service_tokens in access exclusive mode');
    const invented = Array.from({ length: 60 }, () =>
      api.withToken(newServiceToken(claims)).exportPackagesCsv({}).answer(),
    );
    await until(async () => (await countOfLocked()) > 0);
    const startedMs = performance.now();
    await api.as('iex').exportPackagesCsv({}).ok();
    // The turn of an invented token ends with the statement timeout, after 15 seconds.
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    await client.query('rollback');
    const statuses = new Set((await Promise.all(invented)).map(({ status }) => status));
    expect([...statuses].filter((status) => status !== 401 && status !== 503)).toEqual([]);
  } finally {
    await client.query('rollback');
    client.release();
  }
}, 60_000);

/** Returns how many statements wait for a lock. */
async function countOfLocked(): Promise<number> {
  const rows = await db.query(
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  return rows.length;
}
