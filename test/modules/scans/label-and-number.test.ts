import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { deviceScan, sendScans } from '../../support/scans/device-scans.js';
import { startService, type Service } from '../../support/service/service.js';

// A label and the number inside it are one parcel, whichever comes first (decision 0072).

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

afterEach(() =>
  service.owner.query(
    `with gone as (update packages set tracking_number = id::text, tracking_key = id::text),
       held as (delete from scans)
     update prealerts set tracking_number = id::text, tracking_key = id::text, announced_key = null`,
  ),
);

const receive = async (number: string) =>
  (await service.call('receivePackage', { as: 'warehouse', body: { tracking_number: number, weight: 1 } }))
    .body['data'];

describe.each([
  [
    'FedEx, with a right check digit for 14 and for 12 digits',
    '1001921334250001800354779017972697',
    '779017972697',
  ],
  ['FedEx, padded', '1001921334250001000300779017972697', '779017972697'],
  ['a container code of GS1', ']C100340123456789012341', '340123456789012341'],
])('%s', (_name, label, number) => {
  test.each([
    ['the label first', label, number],
    ['the number first', number, label],
  ])('is one package: %s', async (_order, first, second) => {
    const { package_id } = await receive(first);
    expect(await receive(second)).toMatchObject({ package_id, duplicate: true });
  });

  test.each([
    ['the label first', label, number],
    ['the number first', number, label],
  ])('is held by a scan before its receipt: %s', async (_order, first, second) => {
    await sendScans(service, [deviceScan('hold', first, 10, {})]);
    const { package_id } = await receive(second);
    const { rows } = await service.owner.query('select status from packages where id = $1', [package_id]);
    expect(rows).toEqual([{ status: 'on_hold' }]);
  });

  test.each([
    ['the label first', label, number],
    ['the number first', number, label],
  ])('has the owner that announced it: %s', async (_order, first, second) => {
    await service.call('submitPrealert', {
      key: DEMO.apiKeys.IEX,
      body: { UserCode: 'IEX-1001', TrackingNumber: first },
    });
    expect(await receive(second)).toMatchObject({ user_code: 'IEX-1001', matched_by: 'prealert' });
  });

  test.each([
    ['the label first', label, number],
    ['the number first', number, label],
  ])('is not given to another package: %s', async (_order, first, second) => {
    await receive(first);
    const { package_id } = await receive('ANOTHER-1');
    const { status } = await service.call('updatePackage', {
      as: 'warehouse',
      body: { package_id, tracking_number: second },
    });
    expect(status).toBe(409);
  });
});
