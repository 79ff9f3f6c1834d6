import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { fedexLabel, newFedex } from '../../support/scans/fedex.js';
import { newScanNumber } from '../../support/scans/device-scans.js';
import { makeManifests } from '../../support/manifests/manifest-calls.js';
import { makeScanCalls } from '../../support/scans/scan-calls.js';

const { api, db } = withService();
const { announce, receive, resolve } = makeScanCalls(api);
const manifests = makeManifests(api);

const NOTHING = { packages: [], prealerts: [], manifests: [], customers: [] };

describe('a parcel that is not received', () => {
  test.each([
    ['the 12 digits inside', () => newFedex(), (number: string) => number],
    ['the 12 digits, padded to 14', () => newFedex(), (number: string) => `00${number}`],
    ['14 digits', () => newFedex(14), (number: string) => number],
    ['spaces', () => newFedex(), (number: string) => number.replace(/(....)/g, '$1 ')],
  ])('the barcode of 34 digits finds the pre-alert with %s, and receives it', async (_name, make, spell) => {
    const number = make();
    const prealertId = await announce(spell(number));
    const scan = `]C1${fedexLabel(number)}\r\n`;
    const found = await resolve(scan);
    expect(found).toMatchObject({
      text: fedexLabel(number),
      matches: {
        packages: [],
        prealerts: [{ prealert_id: prealertId, user_code: 'IEX-1001', status: 'pending' }],
      },
      next: 'receive',
    });
    expect(found.candidates[0]).toMatchObject({ carrier: 'fedex', tracking_number: number, check: 'valid' });
    expect((await receive(scan).created()).data).toMatchObject({
      prealert_id: prealertId,
      matched_by: 'prealert',
    });
    expect(await db.prealert(prealertId)).toMatchObject({ status: 'received' });
    expect(await resolve(number)).toMatchObject({
      next: 'already_received',
      matches: { packages: [{ matched_by: 'tracking_number', tracking_number: fedexLabel(number) }] },
    });
    expect((await receive(number).ok()).data).toMatchObject({ duplicate: true });
  });

  test('pre-alerts of two customers need a review, as do flagged ones', async () => {
    const number = newFedex();
    const first = await announce(number);
    // As releases stored it that accepted a number in several spellings.
    await db.query('update prealerts set announced_key = null where id = $1', [first]);
    const [, second] = await db.query<{ user_code: string }>(
      'select user_code from customers where courier_id = $1 order by user_code limit 2',
      [DEMO.couriers.IEX],
    );
    await announce(`00${number}`, second?.user_code);
    expect(await resolve(fedexLabel(number))).toMatchObject({ next: 'review' });
    await receive(number).created();
    expect(await resolve(fedexLabel(number))).toMatchObject({
      next: 'review',
      matches: { packages: [{ user_code: null }], prealerts: [{ status: 'flagged' }, { status: 'flagged' }] },
    });
  });

  test.each([
    ['a valid number', '1Z5R89390357567127', 'receive'],
    ['a number that looks like a carrier', 'TBA502887274000', 'receive'],
    ['a wrong check digit', '1Z5R89390357567128', 'unknown'],
    ['only what a scanner adds', '\u001d]C1', 'unknown'],
  ])('%s that nobody announced is answered with %s: %s', async (_name, scan, next) => {
    expect(await resolve(scan)).toMatchObject({ matches: NOTHING, next });
  });
});

describe('rows that earlier versions stored with another key', () => {
  const setKey = (table: 'prealerts' | 'packages', id: string, key: string) =>
    db.query(`update ${table} set tracking_number = $2, tracking_key = $2 where id = $1`, [id, key]);

  test.each([
    ['padded to 14 digits', (number: string) => `00${number}`, fedexLabel],
    ['with spaces', (number: string) => `${number} `.replace(/(....)/g, '$1 ').trim(), undefined],
  ])('a pre-alert %s is found, and gets the key of the package', async (_name, spell, scanOf) => {
    const number = newFedex();
    const prealertId = await announce(number);
    await setKey('prealerts', prealertId, spell(number));
    const scan = (scanOf ?? spell)(number);
    expect(await resolve(scan)).toMatchObject({
      next: 'receive',
      matches: { prealerts: [{ prealert_id: prealertId }] },
    });
    const { data } = await receive(scan).created();
    expect(data.prealert_id).toBe(prealertId);
    expect(await db.package(data.package_id)).toMatchObject({ tracking_key: number });
    expect(await db.prealert(prealertId)).toMatchObject({ tracking_key: number });
  });

  test('a package in lower case is found, and not received again', async () => {
    const number = '1z5r89390357567127';
    const { package_id } = (await receive(newScanNumber('SCAN')).created()).data;
    await setKey('packages', package_id, number);
    expect((await receive(number).ok()).data).toMatchObject({ package_id, duplicate: true });
    expect(await resolve(number)).toMatchObject({ matches: { packages: [{ package_id }] } });
  });
});

test('30 scans of one parcel at once, in six spellings, receive it once and settle its pre-alert', async () => {
  const number = newFedex();
  const prealertId = await announce(`00${number}`);
  const label = fedexLabel(number);
  const spellings = [
    number,
    `00${number}`,
    label,
    `]C1${label}`,
    `${label}\r${label}\r`,
    number.replace(/(....)/g, '$1 '),
  ];
  const received = await Promise.all(
    Array.from({ length: 30 }, async (_, n) => {
      const { data } = await receive(spellings[n % spellings.length] ?? '').succeeded();
      return data;
    }),
  );
  expect(new Set(received.map(({ package_id }) => package_id)).size).toBe(1);
  expect(received.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
  expect(received.map(({ prealert_id }) => prealert_id)).toEqual(received.map(() => prealertId));
});

describe('a received package', () => {
  test('is found by its number in every spelling', async () => {
    const number = newFedex();
    const { package_id } = (await receive(fedexLabel(number), { user_code: 'IEX-1001' }).created()).data;
    for (const scan of [
      number,
      `00${number}`,
      fedexLabel(number),
      `${number}${number}`,
      `]C1${number}\t]C1${number}\t`,
    ])
      expect((await resolve(scan)).matches.packages).toMatchObject([
        { package_id, matched_by: 'tracking_number', user_code: 'IEX-1001', manifest_id: null },
      ]);
  });

  test('is found by its house number in every spelling, doubled too', async () => {
    const received = await receive(fedexLabel(newFedex()), { user_code: 'IEX-1001' }).created();
    const { package_id, house_number } = received.data;
    for (const scan of [
      house_number,
      house_number.toLowerCase(),
      house_number + house_number,
      ` ${house_number}\r`,
    ])
      expect(await resolve(scan)).toMatchObject({
        candidates: [],
        matches: { packages: [{ package_id, matched_by: 'house_number' }] },
        next: 'already_received',
      });
  });

  test('is loaded on a ready manifest, and the number of that manifest is answered with load', async () => {
    const { package_id, house_number } = (await receive(newScanNumber('SCAN')).created()).data;
    const draft = await manifests.draft([package_id]);
    expect(await resolve(house_number)).toMatchObject({ next: 'already_received' });
    expect(await resolve(draft.number)).toMatchObject({ next: 'review' });
    await manifests.update(draft.id, { status: 'ready' }).ok();
    expect(await resolve(house_number)).toMatchObject({
      next: 'load',
      matches: { packages: [{ manifest_number: draft.number, manifest_status: 'ready' }] },
    });
    expect(await resolve(draft.number.toLowerCase())).toMatchObject({
      next: 'load',
      matches: { packages: [], manifests: [{ manifest_id: draft.id, status: 'ready' }] },
    });
  });

  test.each(['on_hold', 'customs_hold', 'returned', 'lost'])(
    'with the status %s needs a review',
    async (status) => {
      const { package_id, house_number } = (await receive(newScanNumber('SCAN')).created()).data;
      await manifests.ready([package_id]);
      await db.query('update packages set status = $2 where id = $1', [package_id, status]);
      expect(await resolve(house_number)).toMatchObject({ next: 'review' });
    },
  );

  test('that has the number itself decides, although another one has its short number', async () => {
    const number = newFedex(14);
    await receive(number).created();
    const other = await receive(newScanNumber('SCAN')).created();
    await db.query('update packages set tracking_key = $1 where id = $2', [
      number.slice(-12),
      other.data.package_id,
    ]);
    const { matches, next } = await resolve(fedexLabel(number));
    expect(matches.packages.map(({ tracking_number }) => tracking_number)).toEqual([number]);
    expect(next).toBe('already_received');
  });
});

test('a user code finds the customers that have it', async () => {
  expect(await resolve('IEX-1001')).toMatchObject({
    candidates: [],
    matches: { ...NOTHING, customers: [{ user_code: 'IEX-1001', is_active: 1 }] },
    next: 'review',
  });
});

test.each([
  ['no scan', {}],
  ['a blank scan', { scan: ' \r\n' }],
  ['a number instead of text', { scan: 779017972697 }],
  ['more than 1,000 characters', { scan: '1'.repeat(1_001) }],
])('refuses %s with 400', async (_name, body) => {
  const { errors } = await api.as('warehouse').resolveScan(unchecked(body)).refused(400, 'validation_failed');
  expect(errors[0]?.field).toBe('scan');
});

test('responds 401 without a token and to an API key', async () => {
  const body = { scan: '779017972697' };
  await api.anonymous.resolveScan(body).refused(401, 'token_missing');
  await api.withKey('a'.repeat(64)).resolveScan(body).refused(401, 'token_missing');
});

test('changes nothing: no audit entry, no event and no row', async () => {
  const number = newFedex();
  await announce(number);
  const before = await db.fingerprint();
  await resolve(fedexLabel(number));
  expect(await db.fingerprint()).toEqual(before);
});
