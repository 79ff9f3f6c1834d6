import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { withService } from '../../support/fixture/with-service.js';
import { deviceScan, newScanNumber, sendScan, sendScans } from '../../support/scans/device-scans.js';
import { makeManifests } from '../../support/manifests/manifest-calls.js';
import { makeScanCalls } from '../../support/scans/scan-calls.js';

// A scan of what the warehouse or a courier has named itself is of that record, and never a new parcel (decision 0072).

const { api, db } = withService();
const { announce, receive, renumber } = makeScanCalls(api);
const manifests = makeManifests(api);

const newNumber = () => newScanNumber('KNOWN');

describe('the number of a manifest and the code of a customer are never a new parcel', () => {
  test.each([
    ['the number of a manifest', async () => (await manifests.draft()).number, 'the number of a manifest'],
    ['the code of a customer', async () => 'IEX-1002', 'the code of a customer'],
  ])('%s is refused by ReceivePackage, and by batches in every kind', async (_, make, words) => {
    const number = await make();
    const before = await db.count('packages');
    for (const spelling of [number, `*${number}*`, `]C1${number}\r`]) {
      const { errors } = await receive(spelling).refused(400, 'validation_failed');
      expect(errors[0]?.message).toContain(words);
    }
    const { results } = await sendScans(api, [
      deviceScan('receive', number, 3, { weight: 1 }),
      deviceScan('locate', number, 2, { location: 'A' }),
      deviceScan('receive', newNumber(), 1, { weight: 1 }),
    ]);
    expect(results).toMatchObject([
      { result: 'refused', reason: 'not_a_parcel', message: expect.stringContaining(words) },
      { result: 'refused', reason: 'not_a_parcel' },
      { result: 'done' },
    ]);
    expect(await db.count('packages')).toBe(before + 1);
  });

  test('unless a pre-alert has the code as its number', async () => {
    const code = 'IEX-1003';
    expect(await db.customer(code)).toMatchObject({ courier_id: DEMO.couriers.IEX, is_active: true });
    await announce(code);
    expect((await receive(code).created()).data.matched_by).toBe('prealert');
    await receive(code).ok();
  });

  test('a code of another tenant is no code here', async () => {
    const [customer] = await db.query<{ user_code: string }>(
      `select user_code from customers where tenant_id <> $1
         and user_code not in (select user_code from customers where tenant_id = $1) limit 1`,
      [DEMO.tenants.demo],
    );
    await receive(customer?.user_code ?? '').created();
  });
});

describe('a house number is never a new parcel', () => {
  test('ReceivePackage answers with the package, in every spelling, also 40 at once', async () => {
    const first = (await receive(newNumber(), { user_code: 'IEX-1001' }).created()).data;
    const { house_number, package_id } = first;
    const before = await db.count('packages');
    const spellings = [
      house_number,
      house_number.toLowerCase(),
      `*${house_number}*`,
      `]C1${house_number}\r`,
      house_number + house_number,
    ];
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, n) => receive(spellings[n % spellings.length] ?? '').ok()),
    );
    expect(new Set(replies.map(({ data }) => data.package_id))).toEqual(new Set([package_id]));
    expect(replies[0]?.data).toEqual({ ...first, duplicate: true });
    expect(await db.count('packages')).toBe(before);
  });

  test('while the package gets other tracking numbers', async () => {
    const { house_number, package_id } = (await receive(newNumber()).created()).data;
    const before = await db.count('packages');
    const rounds = Array.from({ length: 4 }, () =>
      Promise.all([
        receive(house_number).ok(),
        renumber(package_id, newScanNumber('RENUMBERED')).answer(),
        sendScan(api, deviceScan('locate', house_number, 1, { location: 'A' })),
      ]),
    );
    const received = (await Promise.all(rounds)).map(([{ data }]) => data.package_id);
    expect(received).toEqual(received.map(() => package_id));
    expect(await db.count('packages')).toBe(before);
  });

  test('a package cannot be given the house number of a package', async () => {
    const { package_id } = (await receive(newNumber()).created()).data;
    const { house_number } = (await receive(newNumber()).created()).data;
    await renumber(package_id, `*${house_number.toLowerCase()}*`).refused(409, 'duplicate_tracking_number');
  });

  test('a load scan in lower case or with asterisks is of its package', async () => {
    const received = await receive(newNumber(), { user_code: 'IEX-1001' }).created();
    const { house_number, package_id } = received.data;
    const { id: manifest_id } = await manifests.ready([package_id]);
    for (const label of [
      house_number.toLowerCase(),
      `*${house_number}*`,
      `*${house_number.toLowerCase()}*\r`,
    ])
      expect(await sendScan(api, deviceScan('load', label, 5, { manifest_id }))).toMatchObject({
        outcome: 'done',
        parcel: { package_id, loaded_manifest_id: manifest_id },
      });
    const loading = await api.as('warehouse').getManifestLoading({ manifest_id }).ok();
    expect(loading.data.counts).toMatchObject({ extra: 0, missing: 0 });
  });
});

describe('a package that earlier versions stored with noise', () => {
  async function storeNoisy(): Promise<{ id: string; noisy: string }> {
    const number = newNumber();
    const { package_id: id } = (await receive(number).created()).data;
    const noisy = `*${number}*`;
    await db.query('update packages set tracking_number = $2, tracking_key = $2 where id = $1', [id, noisy]);
    return { id, noisy };
  }

  test('is found by the same scan', async () => {
    const { id, noisy } = await storeNoisy();
    expect((await receive(noisy).ok()).data).toMatchObject({ package_id: id, duplicate: true });
  });

  test('is not changed by its own number', async () => {
    const { id, noisy } = await storeNoisy();
    await renumber(id, noisy).ok();
    expect(await db.package(id)).toMatchObject({ tracking_number: noisy });
  });
});
