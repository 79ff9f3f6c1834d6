import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { startService, type Call, type Service } from '../../support/service/service.js';
import type { OperationId } from '../../../src/platform/contract/types.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

const announced = { UserCode: 'IEX-1001', TrackingNumber: 'MISSPELLED-1' };
const file = { file: 'user_code,first_name,last_name\nMISSPELLED,F,L\n' };
const iex = { as: 'iex' } as const;

const CALLS: [string, OperationId, Call, string, string][] = [
  [
    'a filter',
    'listPackages',
    { ...iex, body: { tracking_number: 'zzz' } },
    'tracking_number',
    'trackingNumber',
  ],
  [
    'the filter of a dispatch',
    'listPackages',
    { ...iex, body: { action: 'queue_dispatch', TrackingNumber: 'zzz' } },
    'TrackingNumber',
    'trackingNumber',
  ],
  [
    'a switch of an upload',
    'uploadCustomers',
    { ...iex, form: { file, 'dry-run': 'true' } },
    'dry-run',
    'dry_run',
  ],
  [
    'a required field of a pre-alert',
    'submitPrealert',
    { key: DEMO.apiKeys.IEX, body: { user_code: 'IEX-1001', TrackingNumber: 'MISSPELLED-1' } },
    'user_code',
    'UserCode',
  ],
  [
    'a setting',
    'updateCourierSettings',
    { ...iex, body: { apiUrlGetCustomers: 'https://partner.example/list' } },
    'apiUrlGetCustomers',
    'api_url_get_customers',
  ],
];

test.each(CALLS)(
  '%s with another spelling of its name is 400 that names the field',
  async (_title, id, call, field, name) => {
    const reply = await service.call(id, call);
    expect([reply.status, reply.body['code']]).toEqual([400, 'validation_failed']);
    expect(reply.body['errors']).toContainEqual({
      field,
      code: 'misspelled_name',
      message: `${field} is not a field of this request. Did you mean ${name}? Names are case-sensitive.`,
    });
  },
);

test('a line of pre-alerts is checked for the names that it must have, and the other lines are stored', async () => {
  const lines = [
    announced,
    { ...announced, TrackingNumber: 'MISSPELLED-2', VENDOR: 'V' },
    { UserCode: 'IEX-1001', trackingNumber: 'MISSPELLED-4' },
  ];
  const reply = await service.call('submitPrealert', {
    key: DEMO.apiKeys.IEX,
    body: Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n')),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  expect(reply.body['data'].results).toMatchObject([
    { status: 'created' },
    // A system in production may have sent it for years.
    { status: 'created' },
    { status: 'invalid', errors: [{ field: 'trackingNumber', code: 'misspelled_name' }, {}] },
  ]);
});

test('other unknown names are ignored, also another spelling beside the declared name', async () => {
  const body = {
    ...announced,
    TrackingNumber: 'MISSPELLED-3',
    tracking_number: 'OTHER',
    reference: 'R-1',
    order_id: 7,
    role: 'admin',
  };
  const reply = await service.call('submitPrealert', { key: DEMO.apiKeys.IEX, body });
  expect(reply.status).toBe(201);
});
