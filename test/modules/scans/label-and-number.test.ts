import { afterEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { withService } from '../../support/fixture/with-service.js';
import { deviceScan, sendScan } from '../../support/scans/device-scans.js';
import { makeScanCalls } from '../../support/scans/scan-calls.js';

// A label and the number inside it are one parcel, whichever comes first (decision 0072).

const { api, db } = withService();
const { receive, renumber } = makeScanCalls(api);

afterEach(() =>
  db.query(
    `with gone as (update packages set tracking_number = id::text, tracking_key = id::text),
       held as (delete from scans)
     update prealerts set tracking_number = id::text, tracking_key = id::text, announced_key = null`,
  ),
);

describe.each([
  [
    'FedEx, with a right check digit for 14 and for 12 digits',
    '1001921334250001800354779017972697',
    '779017972697',
  ],
  ['FedEx, padded', '1001921334250001000300779017972697', '779017972697'],
  ['a container code of GS1', ']C100340123456789012341', '340123456789012341'],
])('%s', (_name, label, number) => {
  const orders = [
    ['the label first', label, number],
    ['the number first', number, label],
  ] as const;

  test.each(orders)('is one package: %s', async (_order, first, second) => {
    const { package_id } = (await receive(first).created()).data;
    expect((await receive(second).ok()).data).toMatchObject({ package_id, duplicate: true });
  });

  test.each(orders)('is held by a scan before its receipt: %s', async (_order, first, second) => {
    await sendScan(api, deviceScan('hold', first, 10, {}));
    const { package_id } = (await receive(second).created()).data;
    expect(await db.package(package_id)).toMatchObject({ status: 'on_hold' });
  });

  test.each(orders)('has the owner that announced it: %s', async (_order, first, second) => {
    const announced = { UserCode: 'IEX-1001', TrackingNumber: first };
    await api.withKey(DEMO.apiKeys.IEX).submitPrealert(announced).created();
    expect((await receive(second).created()).data).toMatchObject({
      user_code: 'IEX-1001',
      matched_by: 'prealert',
    });
  });

  test.each(orders)('is not given to another package: %s', async (_order, first, second) => {
    await receive(first).created();
    const other = await receive('ANOTHER-1').created();
    await renumber(other.data.package_id, second).refused(409, 'duplicate_tracking_number');
  });
});
