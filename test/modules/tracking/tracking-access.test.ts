import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeParcels } from '../../support/builders/parcels.js';
import { withService } from '../../support/fixture/with-service.js';
import { makeTracking } from './tracking-calls.js';

const { IEX, HRB } = DEMO.couriers;
const { api, db, service } = withService();
const { enable, receive, keyOf, page } = makeTracking(api, service);

const shown = async () => {
  await enable();
  const parcel = await receive();
  return { ...parcel, key: await keyOf(parcel.id) };
};

const linkOf = async (packageId: string, as = 'iex') =>
  (await api.as(as).getTrackingLink({ package_id: packageId }).ok()).data.link;

describe('a link ends', () => {
  test('when the package gets another customer, and works again if the first one has it back', async () => {
    const { key, id } = await shown();
    const give = (user_code: string) => makeParcels(service()).update('admin', id, { user_code });
    expect((await page(key)).status).toBe(200);
    await give('IEX-1002');
    expect((await page(key)).status).toBe(404);
    expect(await linkOf(id)).toBeNull();
    await give('IEX-1001');
    expect((await page(key)).status).toBe(200);
  });

  test('when the next customer has got another one, for ever', async () => {
    const { key, id } = await shown();
    const give = (user_code: string) => makeParcels(service()).update('admin', id, { user_code });
    await give('IEX-1002');
    const others = await keyOf(id);
    expect(others).not.toBe(key);
    expect([(await page(key)).status, (await page(others)).status]).toEqual([404, 200]);
    await give('IEX-1001');
    expect([(await page(key)).status, (await page(others)).status]).toEqual([404, 404]);
  });

  test('when the package moves to another courier, which cannot see it', async () => {
    const { key, id } = await shown();
    await enable({}, HRB);
    await service().owner.query("update packages set courier_id = $2, user_code = 'HRB-2001' where id = $1", [
      id,
      HRB,
    ]);
    expect((await page(key)).status).toBe(404);
    expect(await linkOf(id, 'hrb')).toBeNull();
    const others = await keyOf(id, 'hrb');
    expect((await page(others)).html).not.toContain('Island Express');
    await api.as('iex').getTrackingLink({ package_id: id }).refused(404, 'package_not_found');
    expect(await db.count('tracking_links', { package_id: id })).toBe(2);
  });

  test('when the code of its customer is that of somebody else, not when the customer is renamed', async () => {
    const create = (first_name: string, last_name: string) =>
      api.as('iex').createCustomer({ user_code: 'IEX-RENAMED', first_name, last_name });
    const { id } = (await create('Ana', 'Solano').ok()).data;
    const parcel = await receive('IEX-RENAMED');
    await enable();
    const key = await keyOf(parcel.id);
    await api.as('iex').updateCustomer({ courier_customer_id: id, user_code: 'IEX-NEWNAME' }).ok();
    expect((await page(key)).status).toBe(200);
    await create('Eva', 'Mora').ok();
    expect((await page(key)).status).toBe(404);
    expect(await linkOf(parcel.id)).toBeNull();
  });

  test('when it is replaced or ended', async () => {
    const { key, id } = await shown();
    const manage = (action: 'replace' | 'end') =>
      api.as('iex').manageTrackingLinks({ action, package_id: id });
    const { data } = await manage('replace').ok();
    const replaced = (data.link?.path ?? '').replace('/track/', '');
    expect([(await page(key)).status, (await page(replaced)).status]).toEqual([404, 200]);
    expect((await manage('end').ok()).data.link).toBeNull();
    expect((await page(replaced)).status).toBe(404);
    await manage('end').refused(404, 'tracking_link_not_found');
  });

  test('when its package is voided', async () => {
    const { key, id } = await shown();
    await service().owner.query('delete from packages where id = $1', [id]);
    expect((await page(key)).status).toBe(404);
    expect(await db.count('tracking_links', { package_id: id })).toBe(0);
  });
});

test('no page of a courier is shown while its pages are off, or it is inactive', async () => {
  const { key, id } = await shown();
  await enable({ is_enabled: false });
  expect([(await page(key)).status, (await linkOf(id))?.is_public]).toEqual([404, false]);
  await enable();
  expect([(await page(key)).status, (await linkOf(id))?.is_public]).toEqual([200, true]);
  await api.as('admin').manageCouriers({ action: 'deactivate', courier_id: IEX }).ok();
  expect([(await page(key)).status, (await linkOf(id, 'admin'))?.is_public]).toEqual([404, false]);
  await api.as('admin').manageCouriers({ action: 'activate', courier_id: IEX }).ok();
  expect((await page(key)).status).toBe(200);
});

test('a package without a customer has no link', async () => {
  const [ownerless] = DEMO.packages.customerUnknown.IEX;
  await api
    .as('iex')
    .manageTrackingLinks({ action: 'create', package_id: ownerless })
    .refused(409, 'package_without_customer');
});

test('an amount makes the link, stays when it is replaced, and is audited', async () => {
  const { id } = await receive();
  const set = (amount_due: number | null) =>
    api.as('iex').manageTrackingLinks({ action: 'set_amount_due', package_id: id, amount_due });
  expect((await set(18.5).ok()).data.link).toMatchObject({ package_id: id, amount_due: 18.5 });
  expect((await set(18.5).ok()).message).toContain('Nothing was changed');
  expect((await set(20).ok()).data.link?.amount_due).toBe(20);
  for (const wrong of [-1, 0.001, 100_000_000]) await set(wrong).refused(400, 'validation_failed');
  const [link] = await db.all('tracking_links', { package_id: id });
  const audited = await makeParcels(service()).auditOf(link?.id ?? '');
  expect(audited.map(({ action }) => action)).toEqual(['tracking_link.created', 'tracking_link.amount_set']);
  const { data } = await api.as('iex').manageTrackingLinks({ action: 'replace', package_id: id }).ok();
  expect(data.link?.amount_due).toBe(20);
});

test('a link whose key was altered in the database counts as none, and the next one replaces it', async () => {
  const { key, id } = await shown();
  await service().owner.query("update tracking_links set key_cipher = 'v1.none' where package_id = $1", [id]);
  expect(await linkOf(id)).toBeNull();
  const next = await keyOf(id);
  expect(next).not.toBe(key);
  expect([(await page(next)).status, (await page(key)).status]).toEqual([200, 404]);
});

test('of 100 requests at once that make the link of a package, all get the same one', async () => {
  const { id } = await receive();
  const made = await Promise.all(Array.from({ length: 100 }, () => keyOf(id)));
  expect(new Set(made).size).toBe(1);
  expect(await db.count('tracking_links', { package_id: id })).toBe(1);
});

describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('with %s', (_name, options) => {
  const own = withService(options);
  const tracking = makeTracking(own.api, own.service);

  test('a link is managed by its courier and the staff of its tenant only', async () => {
    const { id } = await tracking.receive('HRB-2001');
    await tracking.keyOf(id, 'hrb');
    for (const as of ['iex', 'two/admin', 'two/two']) {
      await own.api.as(as).getTrackingLink({ package_id: id }).refused(404, 'package_not_found');
      for (const action of ['create', 'replace', 'end'] as const)
        await own.api
          .as(as)
          .manageTrackingLinks({ action, package_id: id })
          .refused(404, 'package_not_found');
    }
    expect(await own.db.count('tracking_links', {})).toBe(1);
    for (const as of ['hrb', 'admin', 'warehouse'])
      expect((await own.api.as(as).getTrackingLink({ package_id: id }).ok()).data.link?.package_id).toBe(id);
  });

  test('a key and a search find nothing at the host of another tenant', async () => {
    await tracking.enable({ is_search_enabled: true });
    const { id, number } = await tracking.receive();
    const key = await tracking.keyOf(id);
    const host = 'two.localhost';
    expect([(await tracking.page(key)).status, (await tracking.page(key, { host })).status]).toEqual([
      200, 404,
    ]);
    const name = (await own.db.all('customers', { user_code: 'IEX-1001' }))[0]?.last_name ?? '';
    expect((await tracking.search(number, name)).html).toContain('At the warehouse');
    expect((await tracking.search(number, name, { host })).status).toBe(404);
  });

  test('settings are those of the courier', async () => {
    await own.api.as('hrb').updateTrackingSettings({ courier_id: IEX, transit_days: 7 }).ok();
    expect(await own.db.all('tracking_settings', { transit_days: 7 })).toMatchObject([{ courier_id: HRB }]);
    await own.api
      .as('two/admin')
      .updateTrackingSettings({ courier_id: HRB })
      .refused(404, 'courier_not_found');
  });
});
