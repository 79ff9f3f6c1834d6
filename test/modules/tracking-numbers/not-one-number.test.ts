import { beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';

// Every operation that takes a tracking number refuses a field that is no number, or more than one, and says which.

const { api } = withService();

const IEX = { user_code: 'IEX-1001', courier_id: DEMO.couriers.IEX, vendor: 'Shop' };
const TWO = '1Z999AA10123456784, 9400111899223100701112';

let prealertId: string;

beforeAll(async () => {
  const { data } = await api
    .as('warehouse')
    .createPrealert({ ...IEX, tracking_number: 'ONE-NUMBER-1' })
    .created();
  prealertId = data.prealert_id;
});

const CALLS = {
  submitPrealert: (number: string) =>
    api.withKey(DEMO.apiKeys.IEX).submitPrealert({ UserCode: 'IEX-1001', TrackingNumber: number }),
  submitPrealertWithoutSuffix: (number: string) =>
    api
      .withKey(DEMO.apiKeys.IEX)
      .submitPrealertWithoutSuffix({ UserCode: 'IEX-1001', TrackingNumber: number }),
  createPrealert: (number: string) => api.as('warehouse').createPrealert({ ...IEX, tracking_number: number }),
  replacePrealert: (number: string) =>
    api.as('warehouse').replacePrealert({ ...IEX, prealert_id: prealertId, tracking_number: number }),
  receivePackage: (number: string) =>
    api.as('warehouse').receivePackage({ tracking_number: number, weight: 1 }),
  claimParcel: (number: string) =>
    api.as('iex').claimParcel({ user_code: 'IEX-1001', tracking_number: number }),
  updatePackage: (number: string) =>
    api
      .as('warehouse')
      .updatePackage(unchecked({ package_id: DEMO.packages.available.IEX[0], tracking_number: number })),
};

// Some programs write U+202E around text, and a scanner with another keyboard adds separators.
const NO_NUMBERS = ['\u202e', ';'];

test.each(Object.entries(CALLS))('%s refuses a field without a number, or with several', async (id, call) => {
  const field = id.startsWith('submit') ? 'TrackingNumber' : 'tracking_number';
  for (const number of NO_NUMBERS) {
    const { errors } = await call(number).refused(400, 'validation_failed');
    expect([number, errors]).toEqual([
      number,
      [{ field, code: 'pattern', message: `${field} contains nothing but characters that a scanner adds.` }],
    ]);
  }
  const { errors } = await call(TWO).refused(400, 'validation_failed');
  expect(errors).toEqual([
    { field, code: 'ambiguous', message: `${field} contains several numbers: ${TWO}. Send one of them.` },
  ]);
});

test.each(Object.entries(CALLS))('%s refuses a masked number of a list', async (id, call) => {
  const field = id.startsWith('submit') ? 'TrackingNumber' : 'tracking_number';
  for (const number of ['***********1333', '**12A4', ' ****ab-1 ', '…3614']) {
    const { errors } = await call(number).refused(400, 'validation_failed');
    expect([number, errors]).toEqual([
      number,
      [
        {
          field,
          code: 'pattern',
          message: `${field} is a masked number, of which only the last characters are shown. Send the whole number, as the carrier or the customer gave it.`,
        },
      ],
    ]);
  }
});

test('the asterisks of Code 39 are frames, not a mask', async () => {
  const { data } = await CALLS.submitPrealert('*FRAMED-1333*').created();
  const [listed] = (await api.as('iex').listPrealerts({ search: 'FRAMED-1333' }).ok()).data;
  expect(listed).toMatchObject({ prealert_id: data.prealert_id, tracking_number: 'FRAMED-1333' });
});
