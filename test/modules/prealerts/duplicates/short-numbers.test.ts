import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { CUSTOMERS, makeParcels, newNumber } from '../../../support/builders/parcels.js';
import { makeFamily, type Family } from '../../../support/scans/related-numbers.js';
import { multipart, unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';

// A pre-alert of 12 digits that two received packages end in. Nothing chooses between them, as with scans (decision 0105).

const { IEX } = DEMO.couriers;
const { api, service } = withService();
let parcels: ReturnType<typeof makeParcels>;
beforeAll(() => {
  parcels = makeParcels(service());
});

const userCode = CUSTOMERS.IEX;
const idOf = async (number: string) =>
  String(
    (
      await parcels.select('select id from prealerts where tracking_number = $1 and courier_id = $2', [
        number,
        IEX,
      ])
    )[0]?.['id'],
  );

/** The ways to announce a number. */
const WAYS: Record<string, (number: string) => Promise<unknown>> = {
  SubmitPrealert: (number) => parcels.announce('IEX', number),
  'SubmitPrealert in lines': (number) =>
    api
      .withKey(DEMO.apiKeys.IEX)
      .submitPrealert(unchecked(JSON.stringify({ UserCode: userCode, TrackingNumber: number })), {
        headers: { 'content-type': 'application/x-ndjson' },
      })
      .answer(),
  createPrealert: (tracking_number) =>
    api.as('iex').createPrealert({ tracking_number, user_code: userCode, vendor: 'Shop' }).created(),
  'createPrealert by staff': (tracking_number) =>
    api
      .as('admin')
      .createPrealert({ tracking_number, user_code: userCode, vendor: 'Shop', courier_id: IEX })
      .created(),
  replacePrealert: async (tracking_number) => {
    const prealert_id = await parcels.announce('IEX', newNumber());
    const fields = { prealert_id, tracking_number, user_code: userCode, vendor: 'Shop' };
    return api.as('iex').replacePrealert(fields).ok();
  },
  UploadPrealerts: (number) =>
    api
      .as('iex')
      .uploadPrealerts(
        multipart({ file: { file: `tracking_number,user_code,vendor\n${number},${userCode},Shop\n` } }),
      )
      .ok(),
};

const OWNED = { courier_id: IEX, user_code: userCode };

describe.each(Object.entries(WAYS))('a short number that is announced with %s', (_name, announce) => {
  const announced = async (number: string) => {
    await announce(number);
    const { status, tracking_key } = await parcels.prealertRow(await idOf(number));
    return [status, tracking_key];
  };

  test('is received with the only package that fits', async () => {
    const { short, one } = makeFamily();
    await parcels.receive(one, OWNED);
    expect(await announced(short)).toEqual(['received', one]);
  });

  test('is pending if two packages of the courier fit', async () => {
    const { short, one, two } = makeFamily();
    for (const number of [one, two]) await parcels.receive(number, OWNED);
    expect(await announced(short)).toEqual(['pending', short]);
  });

  test('is received with the package that has the number itself', async () => {
    const { short, one, two } = makeFamily();
    const ids = [];
    for (const number of [one, two]) ids.push(await parcels.receive(number, OWNED));
    await parcels.select('update packages set tracking_key = $1, tracking_number = $1 where id = $2', [
      short,
      ids[1],
    ]);
    expect(await announced(short)).toEqual(['received', short]);
  });
});

describe('the review of a flagged pre-alert whose short number two packages without an owner fit', () => {
  let family: Family;
  let prealertId: string;
  let packageIds: { one: string; two: string };

  const review = (fields: object) =>
    api.as('warehouse').reviewPrealert({ prealert_id: prealertId, reason: 'Name on the label.', ...fields });
  const ownerOf = async (id: string) => (await parcels.packageRow(id))['courier_id'];

  beforeEach(async () => {
    family = makeFamily();
    const { short, one, two } = family;
    const first = await parcels.announce('IEX', short);
    await parcels.announce('HRB', short);
    packageIds = { one: await parcels.receive(one), two: await parcels.receive(two) };
    // The flag stays with the number, so the next pre-alert has it too.
    await api.as('iex').deletePrealert({ prealert_id: first }).ok();
    prealertId = await parcels.announce('IEX', short);
    expect(await parcels.prealertRow(prealertId)).toMatchObject({ status: 'flagged', tracking_key: short });
  });

  test('is refused with the numbers of both, and changes nothing', async () => {
    const { status, body } = await review({ assign: true }).answer();
    expect([status, body]).toMatchObject([
      400,
      { code: 'validation_failed', errors: [{ field: 'package_id', code: 'ambiguous' }] },
    ]);
    for (const number of [family.one, family.two]) expect(JSON.stringify(body)).toContain(number);
    const resolve = { action: 'resolve', prealert_id: prealertId, reason: 'Name on the label.' } as const;
    await api.as('warehouse').reviewParcelClaim(resolve).refused(400, 'validation_failed', 'package_id');
    expect(await parcels.statusOf(prealertId)).toBe('flagged');
    expect([await ownerOf(packageIds.one), await ownerOf(packageIds.two)]).toEqual([null, null]);
  });

  test.each(['one', 'two'] as const)('assigns the package that staff name: %s', async (name) => {
    const { data } = await review({ assign: true, package_id: packageIds[name] }).ok();
    expect(data).toMatchObject({ status: 'received', package_id: packageIds[name], assigned: true });
    expect(await parcels.packageRow(packageIds[name])).toMatchObject({
      courier_id: IEX,
      user_code: userCode,
      prealert_id: prealertId,
    });
    expect(await ownerOf(packageIds[name === 'one' ? 'two' : 'one'])).toBeNull();
    expect(await parcels.prealertRow(prealertId)).toMatchObject({ tracking_key: family[name] });
  });

  test('refuses a package with another number', async () => {
    const package_id = await parcels.receive(newNumber());
    const { status, body } = await review({ assign: true, package_id }).answer();
    expect([status, body]).toMatchObject([400, { code: 'package_not_assignable' }]);
    expect(await ownerOf(package_id)).toBeNull();
    expect(await parcels.statusOf(prealertId)).toBe('flagged');
  });

  test('without assign, only the packages of the courier count', async () => {
    expect((await review({}).ok()).data).toMatchObject({ status: 'pending', package_id: null });
  });

  test('without assign, the only package of the courier is taken, and of two none', async () => {
    await parcels.update('admin', packageIds.two, OWNED);
    const other = await parcels.receive(newNumber());
    expect((await review({ package_id: other }).answer()).status).toBe(400);
    await parcels.update('admin', packageIds.one, OWNED);
    const { status, body } = await review({}).answer();
    expect([status, body['errors']]).toMatchObject([400, [{ field: 'package_id' }]]);
    const { data } = await review({ package_id: packageIds.two }).ok();
    expect(data).toMatchObject({ status: 'received', package_id: packageIds.two });
  });

  test('with the key of a package that intake has flagged it with, takes that package', async () => {
    const hrb = await parcels.select('select id from prealerts where tracking_number = $1 and id <> $2', [
      family.short,
      prealertId,
    ]);
    prealertId = String(hrb[0]?.['id']);
    const { tracking_key } = await parcels.prealertRow(prealertId);
    const flaggedWith = tracking_key === family.one ? packageIds.one : packageIds.two;
    const { data } = await review({ assign: true }).ok();
    expect(data).toMatchObject({ package_id: flaggedWith, assigned: true });
  });
});
