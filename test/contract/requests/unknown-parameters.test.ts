import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { mostPrivilegedCaller, pathOf } from '../../support/builders/inputs.js';
import { operationIds, operationOf, parametersOf } from '../../support/service/contract.js';
import { startService, type Service } from '../../support/service/service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

const apiOperations = operationIds.filter((id) => operationOf(id).path.startsWith('/api/'));

test.each(apiOperations)('%s refuses an unknown query parameter and names the known ones', async (id) => {
  const query = { no_such_parameter: 'x' };
  const reply = await service.call(id, { ...mostPrivilegedCaller(id), path: pathOf(id), query });
  expect(reply).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
  const [error] = reply.body['errors'];
  expect(error).toMatchObject({ field: 'no_such_parameter', code: 'unknown_parameter' });
  for (const { name } of parametersOf(id, 'query')) expect(error.message).toContain(name);
});

describe('parameters that are allowed', () => {
  test('_ is allowed everywhere, and api_key where it is a credential', async () => {
    expect((await service.call('listPrealerts', { as: 'iex', query: { _: '1795249800' } })).status).toBe(200);
    const body = { UserCode: 'IEX-1001', TrackingNumber: 'UNKNOWN-PARAMETER-1' };
    const query = { api_key: DEMO.apiKeys.IEX, _: '1' };
    expect((await service.call('submitPrealert', { body, query })).status).toBe(201);
    const reply = await service.call('listPrealerts', { as: 'iex', query: { api_key: DEMO.apiKeys.IEX } });
    expect(reply).toMatchObject({ status: 400, body: { errors: [{ field: 'api_key' }] } });
  });

  test('parameters that are ignored for a courier stay accepted', async () => {
    const query = { courier_id: DEMO.couriers.HRB };
    expect((await service.call('listPrealerts', { as: 'iex', query })).status).toBe(200);
  });

  test('health checks, documents and the console take any', async () => {
    for (const path of ['/health', '/ready', '/docs', '/openapi.json', '/console'])
      expect([path, (await fetch(`${service.url}${path}?v=1`)).status]).toEqual([path, 200]);
  });
});

test('a misspelled filter is refused, however many there are and whatever their names', async () => {
  const query = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`x${n}${'y'.repeat(200)}\n`, '1']));
  const reply = await service.call('listPrealerts', { as: 'iex', query });
  expect(reply.status).toBe(400);
  expect(reply.body['errors']).toHaveLength(20);
  expect(JSON.stringify(reply.body).length).toBeLessThan(10_000);
});

describe('an empty array as PHP encodes it', () => {
  const empty = apiOperations.filter((id) => operationOf(id).takesEmptyBody);

  test.each(empty)('%s takes [] like {}', async (id) => {
    const call = (body: unknown) =>
      service.call(id, {
        ...mostPrivilegedCaller(id),
        path: pathOf(id),
        body: JSON.stringify(body),
        headers: JSON_TYPE,
      });
    const [list, object] = [await call([]), await call({})];
    expect([list.status, list.body['code'], list.body['errors']]).toEqual([
      object.status,
      object.body['code'],
      object.body['errors'],
    ]);
  });

  test('lists packages, and other arrays and required fields are still refused', async () => {
    expect(empty).toContain('listPackages');
    const call = (id: 'listPackages' | 'createCustomer', body: unknown) =>
      service.call(id, { as: 'iex', body: JSON.stringify(body), headers: JSON_TYPE });
    expect((await call('listPackages', [])).status).toBe(200);
    expect((await call('listPackages', [{}])).status).toBe(400);
    expect((await call('listPackages', [[]])).status).toBe(400);
    expect((await call('createCustomer', [])).status).toBe(400);
  });
});

const JSON_TYPE = { 'content-type': 'application/json' };
