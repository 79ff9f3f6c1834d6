import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { lockServiceTokens } from '../../../src/platform/db/locks.js';
import { makeTokenCalls } from './token-calls.js';
import { until } from '../../support/service/processes.js';
import { withService } from '../../support/fixture/with-service.js';

// What an owner of service tokens may have, and how often it may change it.

const { api, db, service } = withService();
const { create, manage, rotate } = makeTokenCalls(api);

const insertToken = `insert into service_tokens (tenant_id, id, courier_id, name, scopes, token_hash, digest_cipher, hint, expires_at,
    created_by)
  values ($1, gen_random_uuid(), $2, $3, '{packages:read}', 'none', 'v1.none', '000000', now() + interval '1 day', $4)`;

const valuesOf = (name: string) => [DEMO.tenants.demo, DEMO.couriers.HRB, name, DEMO.users.hrb];

const countOfLocked = async () =>
  (
    await db.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
  ).length;

/** Sends a request while another transaction that has the lock of HRB's tokens stores one of a name, and returns its outcome. */
async function whileAnotherStores(name: string, send: () => Promise<{ code?: string; status: number }>) {
  const client = await service().owner.connect();
  try {
    await client.query('begin');
    const { text, values } = lockServiceTokens(DEMO.tenants.demo, DEMO.couriers.HRB);
    await client.query(text, values);
    await client.query(insertToken, valuesOf(name));
    const sent = send();
    await Promise.race([sent, until(async () => (await countOfLocked()) > 0).catch(() => undefined)]);
    await client.query('commit');
    const { code, status } = await sent;
    return code ?? String(status);
  } finally {
    await client.query('rollback');
    client.release();
  }
}

test('a creation counts the tokens that another transaction is creating, and an owner has 20', async () => {
  for (let n = 0; n < 19; n += 1) await db.query(insertToken, valuesOf(`one of many ${n}`));
  const body = { action: 'create', name: 'the last', scopes: ['packages:read'] };
  expect(await whileAnotherStores('the other', () => manage('hrb', body).answer())).toBe('too_many_tokens');
  expect(await db.count('service_tokens', { courier_id: DEMO.couriers.HRB })).toBe(20);
  await db.query('delete from service_tokens');
});

test('a creation and a change see the name that another transaction is storing', async () => {
  const body = { action: 'create', name: 'the same', scopes: ['packages:read'] };
  expect(await whileAnotherStores('the same', () => manage('hrb', body).answer())).toBe(
    'duplicate_token_name',
  );
  const { id } = await create('hrb');
  const rename = { action: 'update', token_id: id, name: 'renamed', current_password: undefined };
  expect(await whileAnotherStores('renamed', () => manage('hrb', rename).answer())).toBe(
    'duplicate_token_name',
  );
});

test('the tokens of an owner wait for no change of the tokens of another', async () => {
  const { id } = await create('iex');
  const rename = { action: 'update', token_id: id, name: 'meanwhile', current_password: undefined };
  const client = await service().owner.connect();
  try {
    await client.query('begin');
    const { text, values } = lockServiceTokens(DEMO.tenants.demo, DEMO.couriers.HRB);
    await client.query(text, values);
    // The lock of the other owner is held until after the response.
    await manage('iex', rename).ok();
  } finally {
    await client.query('rollback');
    client.release();
  }
});

const useUp = (kind: string, used: number) =>
  db.query(
    `insert into principal_quotas (tenant_id, principal_kind, principal_id, courier_id, kind, period_start, used)
     values ($1, 'courier', $2, $2, $3, date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', $4)
     on conflict (tenant_id, principal_kind, principal_id, kind, period_start) do update set used = $4`,
    [DEMO.tenants.demo, DEMO.couriers.IEX, kind, used],
  );

test('a courier creates at most 100 tokens per day', async () => {
  await useUp('service_tokens', 100);
  const body = { action: 'create', name: 'too many', scopes: ['packages:read'] };
  await manage('iex', body).refused(429, 'quota_exceeded');
  await useUp('service_tokens', 0);
});

test('a courier changes and rotates tokens at most 1,000 times per day, and may still revoke them', async () => {
  const { id } = await create('iex', { name: 'often changed' });
  const change = { action: 'update', token_id: id, current_password: undefined };
  await useUp('service_token_changes', 998);
  await manage('iex', { ...change, name: 'changed once' }).ok();
  await rotate('iex', id);
  // What changes nothing is not counted.
  await manage('iex', { ...change, name: 'changed once' }).ok();
  const before = await db.one('service_tokens', { id });
  const entries = await db.count('audit_entries', { entity_id: id });
  for (const body of [
    { ...change, name: 'changed twice' },
    { action: 'rotate', token_id: id },
  ]) {
    const refusal = await manage('iex', body).refused(429, 'quota_exceeded');
    expect(refusal.message).toContain('1000 changes and rotations');
  }
  expect(await db.one('service_tokens', { id })).toEqual(before);
  expect(await db.count('audit_entries', { entity_id: id })).toBe(entries);
  await manage('iex', { action: 'revoke', token_id: id }).ok();
});
