import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import type { DataOf } from '../../support/fixture/pending-call.js';
import { withService } from '../../support/fixture/with-service.js';
import { fedexLabel, newFedex } from '../../support/scans/fedex.js';
import { newScanNumber } from '../../support/scans/device-scans.js';
import { makeManifests } from '../../support/manifests/manifest-calls.js';
import { makeScanCalls } from '../../support/scans/scan-calls.js';

// Whom a scanned parcel belongs to, and which couriers see it (decision 0072).

const { api, db } = withService();
const { announce, createPrealert, receive, resolve } = makeScanCalls(api);
const manifests = makeManifests(api);

const { IEX } = DEMO.couriers;
const NOTHING = { packages: [], prealerts: [], manifests: [], customers: [] };

const newNumber = () => newScanNumber('MEANS');

/** As releases stored it that accepted a number in several spellings. */
async function announceAsBefore(number: string): Promise<void> {
  const id = await announce(number);
  await db.query('update prealerts set announced_key = null where id = $1', [id]);
}

/** The code of another customer of the same courier than IEX-1001. */
async function otherCustomer(): Promise<string> {
  const active = await db.all('customers', { courier_id: IEX, is_active: true });
  const other = active.find(({ user_code }) => user_code !== 'IEX-1001');
  if (!other) throw new Error('The courier has one active customer.');
  return other.user_code;
}

describe('a courier', () => {
  test('sees its own parcel as staff do', async () => {
    const number = newFedex();
    await announce(number);
    expect(await resolve(fedexLabel(number), 'iex')).toEqual(await resolve(fedexLabel(number)));
    await receive(number).created();
    expect(await resolve(fedexLabel(number), 'iex')).toEqual(await resolve(fedexLabel(number)));
  });

  test('is not told that a parcel has not arrived which only is not its own', async () => {
    const words = async (scan: string, as: string) => (await api.as(as).resolveScan({ scan }).ok()).message;
    const number = newFedex();
    expect(await words(number, 'warehouse')).toBe('The parcel is not received yet.');
    await receive(number).created();
    const [arrived, unknown] = [await words(number, 'iex'), await words(newFedex(), 'iex')];
    expect(arrived).toBe(unknown);
    expect(arrived).toBe(
      'None of your packages has this number. It may not be received yet, or its owner is not known.',
    );
    expect(await words('NOTHING OF THIS', 'iex')).toBe('None of your records has this number.');
  });

  test("gets the same response for another courier's records as for unknown ones, also of another tenant", async () => {
    const number = newFedex();
    await announce(number);
    const { package_id, house_number } = (await receive(number).created()).data;
    const manifest = await manifests.ready([package_id]);
    const announced = newFedex();
    await announce(announced);
    const withoutText = ({
      text: _text,
      numbers: _numbers,
      candidates,
      ...others
    }: DataOf<'resolveScan'>) => ({
      ...others,
      candidates: candidates.map(({ tracking_number: _number, ...candidate }) => candidate),
    });
    const codes = [house_number, manifest.number, 'IEX-1001'];
    for (const as of ['hrb', 'two/two', 'two/admin']) {
      const unknownNumber = await resolve(fedexLabel(newFedex()), as);
      const unknownCode = await resolve(newNumber(), as);
      expect(unknownNumber).toMatchObject({ matches: NOTHING, next: 'receive' });
      for (const scan of [number, announced])
        expect(withoutText(await resolve(fedexLabel(scan), as))).toEqual(withoutText(unknownNumber));
      for (const scan of codes)
        expect(withoutText(await resolve(scan, as))).toEqual(withoutText(unknownCode));
    }
  });

  test('does not find a package without a customer by its number, and sees it masked by its house number', async () => {
    const number = newFedex();
    const { house_number } = (await receive(number, { courier_id: IEX }).created()).data;
    expect((await resolve(number)).matches.packages).toHaveLength(1);
    expect(await resolve(number, 'iex')).toMatchObject({ matches: NOTHING, next: 'receive' });
    expect((await resolve(house_number, 'iex')).matches.packages).toMatchObject([
      { tracking_number: `********${number.slice(-4)}`, user_code: null },
    ]);
  });

  test('is shown no claim of a package whose number it sees masked', async () => {
    const number = newNumber();
    const { house_number, package_id } = (await receive(number, { courier_id: IEX }).created()).data;
    await announce(number);
    const shown = await resolve(house_number, 'iex');
    expect(shown).toMatchObject({
      kind: 'house_number',
      matches: { packages: [{ package_id }], prealerts: [] },
    });
    expect(JSON.stringify(shown)).not.toContain(number);
  });

  test('finds a manifest only if one of its packages is on it', async () => {
    const { package_id } = (await receive(newNumber(), { user_code: 'IEX-1001' }).created()).data;
    const { number } = await manifests.ready([package_id]);
    expect((await resolve(number, 'iex')).matches.manifests).toHaveLength(1);
    expect((await resolve(number, 'hrb')).matches.manifests).toEqual([]);
  });
});

describe('announcements of one number in two spellings', () => {
  test('are one: the second is refused, and names the first, which is received with the parcel', async () => {
    const number = newScanNumber('twice');
    const id = await announce(number.toLowerCase());
    const refused = await createPrealert(number.toUpperCase()).refused(409, 'duplicate_tracking_number');
    expect(refused.existing).toMatchObject({ prealert_id: id });
    const received = await receive(`*${number.toUpperCase()}*`).created();
    expect(received.data.prealert_id).toBe(id);
  });

  test('that an earlier release accepted are both received with the parcel', async () => {
    const number = newScanNumber('before');
    await announceAsBefore(number.toLowerCase());
    const second = await announce(number.toUpperCase());
    const received = await receive(`*${number.toUpperCase()}*`).created();
    expect(received.data.prealert_id).toBe(second);
    const stored = await db.query('select status from prealerts where upper(tracking_number) = upper($1)', [
      number,
    ]);
    expect(stored).toEqual([{ status: 'received' }, { status: 'received' }]);
  });

  test('that only a scanner tells apart are one number: 409', async () => {
    const number = newNumber();
    await announce(number);
    await createPrealert(`]C1*${number}*\r`).refused(409, 'duplicate_tracking_number');
  });
});

describe('ResolveScan states', () => {
  test('all claims with the names of the customers, and no owner, if two customers announced a number', async () => {
    const number = newNumber();
    const other = await otherCustomer();
    await announceAsBefore(number);
    await announce(` ${number.toLowerCase()}`, other);
    const shown = await resolve(number);
    expect(shown).toMatchObject({ next: 'review', owner: null, kind: 'parcel' });
    expect(shown.matches.prealerts).toMatchObject([
      { user_code: 'IEX-1001', first_name: expect.any(String), last_name: expect.any(String) },
      { user_code: other, first_name: expect.any(String) },
    ]);
    const { house_number } = (await receive(number).created()).data;
    for (const scan of [number, house_number])
      expect(await resolve(scan)).toMatchObject({
        next: 'review',
        owner: { courier_id: IEX, user_code: null, first_name: null },
        matches: { prealerts: [{}, {}] },
      });
  });

  test('no owner if another courier announced the number after 60 spellings of it', async () => {
    const number = newScanNumber('claimed');
    const spellings = Array.from({ length: 60 }, (_, n) =>
      Array.from(number, (letter, at) =>
        (n >> (at % 6)) & 1 ? letter.toUpperCase() : letter.toLowerCase(),
      ).join(''),
    );
    for (const spelling of new Set(spellings)) await announceAsBefore(spelling);
    await announce(number, 'HRB-2001');
    const shown = await resolve(number);
    expect(shown).toMatchObject({ next: 'review', owner: null });
    expect(shown.matches.prealerts).toHaveLength(50);
    expect((await receive(number).created()).data).toMatchObject({ courier_id: null, flagged: true });
  });

  test('no owner of a package that two couriers announced', async () => {
    const number = newNumber();
    await announce(number);
    await announce(number, 'HRB-2001');
    expect(await resolve(number)).toMatchObject({ next: 'review', owner: null });
    await receive(number).created();
    expect(await resolve(number)).toMatchObject({
      next: 'review',
      owner: null,
      matches: { prealerts: [{}, {}] },
    });
  });

  test("the package's own owner, also by its house number", async () => {
    const number = newNumber();
    const { house_number } = (await receive(number, { user_code: 'IEX-1001' }).created()).data;
    await announce(number, await otherCustomer());
    for (const [scan, kind] of [
      [number, 'parcel'],
      [house_number, 'house_number'],
    ] as const)
      expect(await resolve(scan)).toMatchObject({
        kind,
        owner: { user_code: 'IEX-1001', courier_id: IEX, first_name: expect.any(String) },
        matches: { prealerts: [{}] },
      });
  });

  test('a manifest, a customer, and what nobody knows', async () => {
    const { number } = await manifests.draft();
    expect(await resolve(number)).toMatchObject({ kind: 'manifest', owner: null });
    expect(await resolve('IEX-1001')).toMatchObject({ kind: 'customer', owner: null });
    expect(await resolve(newNumber())).toMatchObject({ kind: 'unknown', owner: null });
    expect(await resolve('1Z5R89390357567127')).toMatchObject({ kind: 'parcel', owner: null });
  });
});
