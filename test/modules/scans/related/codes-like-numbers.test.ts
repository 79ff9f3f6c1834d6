import { expect, test } from '@jest/globals';
import { CUSTOMERS } from '../../../support/builders/parcels.js';
import { withService } from '../../../support/fixture/with-service.js';
import { deviceScan, sendScan } from '../../../support/scans/device-scans.js';
import { makeScanCalls } from '../../../support/scans/scan-calls.js';

const { api } = withService();
const { receive } = makeScanCalls(api);

test("a customer's code that is another courier's tracking number stops no intake whose owner staff name", async () => {
  const [code, another] = ['TBA721696669203', 'TBA721696669204'];
  for (const user_code of [code, another])
    await api.as('iex').createCustomer({ user_code, first_name: 'First', last_name: 'Last' }).ok();
  for (const fields of [{}, { user_code: code }])
    await receive(code, fields).refused(400, 'validation_failed', 'tracking_number');
  const named = await receive(code, { user_code: CUSTOMERS.HRB }).created();
  expect(named.data).toMatchObject({ user_code: CUSTOMERS.HRB });
  const scan = deviceScan('receive', another, 10, { weight: 1, user_code: CUSTOMERS.HRB });
  expect(await sendScan(api, scan)).toMatchObject({ result: 'done', parcel: { tracking_number: another } });
});
