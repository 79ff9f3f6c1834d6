import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { bundle, describeOperation, operationIds, operationOf } from '../../support/service/contract.js';
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

test('unknown names of a new record are ignored, also another spelling of a declared one', async () => {
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

test('a filter is taken if another spelling is sent beside it', async () => {
  const body = { trackingNumber: 'zzz', tracking_number: 'other' };
  const reply = await service.call('listPackages', { ...iex, body });
  expect([reply.status, reply.body['data']]).toEqual([200, []]);
});

test('the contract names exactly the operations that refuse another spelling', () => {
  const { description } = bundle.info;
  const [, names = ''] =
    /would otherwise select every package\. These are (.*?)\. Everywhere else/s.exec(description) ?? [];
  const named = [...names.matchAll(/`([\w.]+)`/g)].map(([, name]) => name);
  const refusing = operationIds
    .filter((id) =>
      JSON.stringify(describeOperation(id).requestBody ?? {}).includes('"x-refuses-misspelling":true'),
    )
    .map((id) => operationOf(id).path.split('/').at(-1));
  expect([...new Set(refusing)].sort()).toEqual(named.sort());
});
