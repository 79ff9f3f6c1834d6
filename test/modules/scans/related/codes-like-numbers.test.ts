import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CUSTOMERS } from '../../../support/builders/parcels.js';
import { deviceScan, sendScans } from '../../../support/scans/device-scans.js';
import { startService, type Service } from '../../../support/service/service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

const receive = (body: object) =>
  service.call('receivePackage', { as: 'warehouse', body: { weight: 1, ...body } });

test("a customer's code that is another courier's tracking number stops no intake whose owner staff name", async () => {
  const [code, another] = ['TBA721696669203', 'TBA721696669204'];
  for (const user_code of [code, another]) {
    const body = { user_code, first_name: 'First', last_name: 'Last' };
    expect((await service.call('createCustomer', { as: 'iex', body })).status).toBe(200);
  }
  for (const fields of [{}, { user_code: code }])
    expect(await receive({ tracking_number: code, ...fields })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'tracking_number' }] },
    });
  const named = await receive({ tracking_number: code, user_code: CUSTOMERS.HRB });
  expect(named).toMatchObject({ status: 201, body: { data: { user_code: CUSTOMERS.HRB } } });
  const { results } = await sendScans(service, [
    deviceScan('receive', another, 10, { weight: 1, user_code: CUSTOMERS.HRB }),
  ]);
  expect(results).toMatchObject([{ result: 'done', parcel: { tracking_number: another } }]);
});
