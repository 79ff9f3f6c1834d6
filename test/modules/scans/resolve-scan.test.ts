import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startService, type Service } from '../../support/service/service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

test('responds 200 to an administrator', async () => {
  const { status, body } = await service.call('resolveScan', { as: 'admin', body: {} });
  expect({ status, data: body['data'] }).toEqual({ status: 200, data: {} });
});

test('responds 401 without a token', async () => {
  expect((await service.call('resolveScan', { body: {} })).status).toBe(401);
});
