import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';
import { DEMO } from '../../fixtures/demo/demo.js';
import { startService, type Service } from '../support/service/service.js';
import { buildSdk } from './programs/build-sdk.js';

const sdkFolder = join(projectRoot, 'sdk', 'typescript');

// What programs log of the SDK for TypeScript, and how large its pages are.

// The package is imported as it is built. test/sdk/packed checks its types as a consumer does.
// oxlint-disable-next-line typescript/no-explicit-any
let sdk: any;

/** What the test reads of a report. */
type Report = {
  operation: string;
  attempt: number;
  status?: number;
  requestId?: string;
  durationMs: number;
  error?: Error;
};
let service: Service;
let counter: Server;
let counterUrl: string;
const limits: (string | null)[] = [];

beforeAll(async () => {
  await buildSdk();
  sdk = await import(pathToFileURL(join(sdkFolder, 'dist', 'index.js')).href);
  service = await startService();
  // An empty list, to see what the client asks for.
  counter = createServer((request, response) => {
    limits.push(new URL(request.url ?? '/', 'http://x').searchParams.get('limit'));
    const page = { status: 'success', data: [], meta: { total_pages: 0 } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));
  });
  counter.listen(0, '127.0.0.1');
  await once(counter, 'listening');
  counterUrl = `http://127.0.0.1:${(counter.address() as AddressInfo).port}`;
}, 180_000);

afterAll(async () => {
  counter.closeAllConnections();
  counter.close();
  await service.stop();
});

test('the hook gets the operation, the status, the request id and the duration, and no secret', async () => {
  const seen: Report[] = [];
  const client = new sdk.CrossdockClient({
    baseUrl: service.url,
    username: 'iex',
    password: DEMO.password,
    onAttempt: (report: Report) => seen.push(report),
  });
  await client.prealerts.list({ search: 'SECRET-SEARCH' });
  const refusal = await client.manifests.get({ id: crypto.randomUUID() }).catch((error: unknown) => error);
  expect(seen.map(({ operation, attempt, status }) => [operation, attempt, status])).toEqual([
    ['login', 1, 200],
    ['listPrealerts', 1, 200],
    ['getManifest', 1, 404],
  ]);
  expect(seen.filter(({ requestId, durationMs }) => !requestId || !(durationMs > 0))).toEqual([]);
  expect(seen[2]?.error).toBe(refusal);
  const text = JSON.stringify(seen.map(({ error: _error, ...rest }) => rest));
  for (const secret of [DEMO.password, 'SECRET-SEARCH', (await client.login()).access_token])
    expect(text).not.toContain(secret);
});

test('a hook that throws does not fail the call', async () => {
  const client = new sdk.CrossdockKeyClient({
    baseUrl: service.url,
    apiKey: DEMO.apiKeys.IEX,
    onAttempt: () => {
      throw new Error('The log is full.');
    },
  });
  const { data } = await client.prealerts.submit({ UserCode: 'IEX-1001', TrackingNumber: 'HOOK-THROWS' });
  expect(data.prealert_id).toHaveLength(36);
});

test('all pages of a list are large, unless the client or the call says otherwise', async () => {
  const read = async (options: { pageSize?: number }, input: { limit?: number } = {}) => {
    limits.length = 0;
    const client = new sdk.CrossdockClient({ baseUrl: counterUrl, token: 'token', ...options });
    for await (const record of client.prealerts.list(input)) expect(record).toBe('no record');
    for await (const record of client.customers.list(input)) expect(record).toBe('no record');
    await client.prealerts.list(input);
    return [...limits];
  };
  // The list of customers has at most 100 per page. One awaited page is that of the service.
  expect(await read({})).toEqual(['500', '100', null]);
  expect(await read({ pageSize: 7 })).toEqual(['7', '7', null]);
  expect(await read({ pageSize: 7 }, { limit: 3 })).toEqual(['3', '3', '3']);
});
