import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { OperationId } from '../../../src/platform/contract/types.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { operationIds } from '../../support/service/contract.js';
import { addressOf } from '../../support/builders/inputs.js';
import { startService, type Call, type Service } from '../../support/service/service.js';
import { talk } from '../../support/service/wire.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

/** Cache-Control of successful responses that may be cached. */
const CACHEABLE: Partial<Record<OperationId, string>> = {
  getContractJson: 'no-cache',
  getContractYaml: 'no-cache',
  getSdkContract: 'no-cache',
  getCourierLogo: 'public, max-age=31536000, immutable',
};

const CALLERS: [string, Call][] = [
  ['nobody', {}],
  ['a manager', { as: 'manager' }],
  ['a courier', { as: 'iex' }],
  ['an invalid token', { token: 'no.such.token' }],
  ['a key', { key: DEMO.apiKeys.IEX }],
  ['an unknown key', { key: 'f'.repeat(64) }],
];

describe.each(operationIds)('%s', (id) => {
  test('responses are not cacheable for any caller and any status', async () => {
    const seen = new Set<number>();
    for (const [caller, call] of CALLERS) {
      const reply = await service.call(id, { ...call, ...addressOf(id) });
      seen.add(reply.status);
      const wanted = (reply.status === 200 && CACHEABLE[id]) || 'no-store';
      expect([caller, reply.status, reply.headers.get('cache-control')]).toEqual([
        caller,
        reply.status,
        wanted,
      ]);
    }
    expect(seen.size).toBeGreaterThan(0);
  });
});

test.each<[string, OperationId, Call]>([
  ['a token', 'login', { body: { action: 'login', username: 'admin', password: DEMO.password } }],
  ['a profile with its key', 'getCourierSettings', { as: 'iex' }],
  ['a new key', 'updateCourierSettings', { as: 'iex', urlencoded: { action: 'regenerate_key' } }],
  ['an export as CSV', 'listPackages', { as: 'admin', body: { export: true, export_format: 'csv' } }],
  ['an export as XLSX', 'listPackages', { as: 'admin', body: { export: true, export_format: 'xlsx' } }],
  ['a list', 'listCustomers', { as: 'iex' }],
])('the response with %s is not cacheable', async (_name, id, call) => {
  const reply = await service.call(id, call);
  expect([reply.status, reply.headers.get('cache-control')]).toEqual([200, 'no-store']);
});

test('a stored response, a label and a bill are not cacheable', async () => {
  const headers = { 'idempotency-key': 'kept-1' };
  const call = { as: 'hrb', headers, urlencoded: { action: 'rotate_webhook_secret' } };
  await service.call('updateCourierSettings', call);
  const replayed = await service.call('updateCourierSettings', call);
  expect(replayed.headers.get('idempotency-replayed')).toBe('true');
  const { rows: packages } = await service.owner.query(
    "select id from packages where status = 'received' limit 1",
  );
  const label = await service.call('getPackageLabel', { as: 'admin', query: { package_id: packages[0].id } });
  const { rows: bills } = await service.owner.query(
    "select id from bills where status = 'published' limit 1",
  );
  const bill = await service.call('downloadCourierBill', { as: 'admin', query: { bill_id: bills[0].id } });
  for (const reply of [replayed, label, bill])
    expect([reply.status, reply.headers.get('cache-control')]).toEqual([200, 'no-store']);
});

test.each([
  ['an unknown path', 'GET /nowhere HTTP/1.1\r\nHost: x\r\n'],
  ['an unknown page of the reference', 'GET /docs/nowhere HTTP/1.1\r\nHost: x\r\n'],
  ['a wrong method', 'PUT /openapi.json HTTP/1.1\r\nHost: x\r\n'],
  ['a path that cannot be decoded', 'GET /%zz HTTP/1.1\r\nHost: x\r\n'],
  ['two hosts', 'GET /health HTTP/1.1\r\nHost: x\r\nHost: y\r\n'],
  ['bytes that are not HTTP', 'GARBAGE\r\n'],
  ['headers too large', `GET /health HTTP/1.1\r\nHost: x\r\nX-Thing: ${'x'.repeat(20_000)}\r\n`],
])('the error response to %s is not cacheable', async (_name, head) => {
  const connection = head.startsWith('GARBAGE') ? '' : 'Connection: close\r\n';
  const [reply] = await talk(service.url, `${head}${connection}\r\n`);
  expect(reply?.status).toBeGreaterThanOrEqual(400);
  expect(reply?.headers['cache-control']).toBe('no-store');
});
