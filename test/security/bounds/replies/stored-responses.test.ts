import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { QUOTAS } from '../../../../generated/bounds.js';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import type { OperationId } from '../../../../src/platform/contract/types.js';
import { startService, type Call, type Reply, type Service } from '../../../support/service/service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

const withKey = (call: Call, key: string): Call => ({
  ...call,
  headers: { ...call.headers, 'idempotency-key': key },
});

const isReplay = ({ headers }: Reply) => headers.get('idempotency-replayed') === 'true';

const storedResponses = async () => {
  const { rows } = await service.owner.query<{ n: number; bytes: number }>(
    'select count(*)::int as n, coalesce(sum(length(answer_cipher)), 0)::int as bytes from idempotency_keys',
  );
  return rows[0] ?? { n: 0, bytes: 0 };
};

const usedBytes = async (id: string) => {
  const { rows } = await service.owner.query<{ used: string }>(
    "select used from principal_quotas where kind = 'stored_bytes' and principal_id = $1",
    [id],
  );
  return Number(rows[0]?.used ?? 0);
};

const lines = (line: string, count: number): Call => ({
  key: DEMO.apiKeys.IEX,
  query: { atomic: 'true' },
  body: Buffer.from(Array.from({ length: count }, () => line).join('\n')),
  headers: { 'content-type': 'application/x-ndjson' },
});

const badRows = (count: number): Call => ({
  as: 'iex',
  form: { file: { file: `user_code,first_name,last_name\n${'x,,\n'.repeat(count)}`, name: 'bad.csv' } },
});

const ATTACKS: [string, OperationId, Call][] = [
  ['1,000 lines `0`', 'submitPrealert', lines('0', 1_000)],
  ['1,000 lines `{}`', 'submitPrealert', lines('{}', 1_000)],
  ['1,000 rows of customers without values', 'uploadCustomers', badRows(1_000)],
  [
    'an event of 1,000 unknown packages',
    'recordPackageEvent',
    {
      as: 'warehouse',
      body: { status: 'on_hold', package_ids: Array.from({ length: 1_000 }, () => randomUUID()) },
    },
  ],
];

test.each([...ATTACKS, ['3 lines `0`', 'submitPrealert', lines('0', 3)] as const])(
  'the refusal of %s is not stored, and a repeated request computes it again',
  async (_title, id, call) => {
    const before = await storedResponses();
    const keys = Array.from({ length: 5 }, () => randomUUID());
    for (const key of [...keys, ...keys]) {
      const reply = await service.call(id, withKey(call, key));
      expect([400, 404]).toContain(reply.status);
      expect(isReplay(reply)).toBe(false);
    }
    expect(await storedResponses()).toEqual(before);
  },
);

test('a long success is stored compressed, returned again byte for byte, and counted', async () => {
  const key = DEMO.apiKeys.IEX;
  const good = JSON.stringify({ UserCode: 'IEX-1001', TrackingNumber: `LONG-${randomUUID()}` });
  const body = Buffer.from([good, ...Array.from({ length: 999 }, () => '{}')].join('\n'));
  const call = withKey({ key, body, headers: { 'content-type': 'application/x-ndjson' } }, randomUUID());
  const [before, usedBefore] = [await storedResponses(), await usedBytes(DEMO.couriers.IEX)];
  const first = await service.call('submitPrealert', call);
  expect(first.bytes.length).toBeGreaterThan(50_000);
  const stored = (await storedResponses()).bytes - before.bytes;
  expect(stored).toBeLessThan(first.bytes.length / 3);
  const second = await service.call('submitPrealert', call);
  expect([first.status, isReplay(first), isReplay(second)]).toEqual([second.status, false, true]);
  expect(second.bytes.equals(first.bytes)).toBe(true);
  expect([second.headers.get('content-type'), second.headers.get('content-encoding')]).toEqual([
    first.headers.get('content-type'),
    null,
  ]);
  const used = (await usedBytes(DEMO.couriers.IEX)) - usedBefore;
  expect(used).toBeGreaterThanOrEqual(stored);
  expect(used).toBeLessThan(stored + 1_000);
});

const setUsed = (kind: string, id: string, courierId: string | null, used: number) =>
  service.owner.query(
    `insert into principal_quotas (tenant_id, principal_kind, principal_id, courier_id, kind, period_start, used)
     values ($1, $2, $3, $4, 'stored_bytes', date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', $5)
     on conflict (tenant_id, principal_kind, principal_id, kind, period_start) do update set used = excluded.used`,
    [DEMO.tenants.demo, kind, id, courierId, used],
  );

test('a caller that has used up its bytes gets 429 before anything is done, and its earlier responses', async () => {
  const create = (as: string, key: string, code: string) => {
    const body = { user_code: code, first_name: 'F', last_name: 'L', courier_id: DEMO.couriers.IEX };
    return service.call('createCustomer', withKey({ as, body }, key));
  };
  expect((await create('iex', 'before', 'BYTES-1')).status).toBe(200);
  expect((await create('admin', 'staff', 'BYTES-2')).status).toBe(200);
  const { limit } = QUOTAS.stored_bytes;
  await setUsed('courier', DEMO.couriers.IEX, DEMO.couriers.IEX, limit);
  const refused = await create('iex', 'after', 'BYTES-3');
  expect([refused.status, refused.body['code']]).toEqual([429, 'quota_exceeded']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(refused.headers.get('ratelimit-policy')).toContain('"stored-responses"');
  const { rows } = await service.owner.query("select 1 from customers where user_code = 'BYTES-3'");
  expect(rows).toEqual([]);
  // The courier's API key has the same quota, other callers have their own.
  expect((await service.call('submitPrealert', withKey(lines('{}', 1), 'after'))).status).toBe(429);
  expect((await create('admin', 'another', 'BYTES-4')).status).toBe(200);
  expect(isReplay(await create('iex', 'before', 'BYTES-1'))).toBe(true);
  const { 'idempotency-key': _, ...headers } = withKey({}, 'x').headers ?? {};
  const body = { user_code: 'BYTES-5', first_name: 'F', last_name: 'L' };
  expect((await service.call('createCustomer', { as: 'iex', body, headers })).status).toBe(200);
  await setUsed('user', DEMO.users.admin, null, limit);
  expect((await create('admin', 'third', 'BYTES-6')).status).toBe(429);
});
