import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newNumber } from '../../support/builders/parcels.js';
import { insertMailedUser } from '../../support/builders/users.js';
import { withService } from '../../support/fixture/with-service.js';
import { png } from '../../support/readers/pictures.js';
import { multipart, unchecked } from '../../support/fixture/sent.js';

const { IEX, HRB, TWO } = DEMO.couriers;
const OPEN = {
  profile: ['email', 'phone_number1', 'address1', 'city_town'],
  customers: ['customer'],
  prealert: ['prealert'],
  webhook: ['url'],
  logo: ['logo'],
  team: ['member'],
};
const DONE = { profile: [], customers: [], prealert: [], webhook: [], logo: [], team: [] };

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('getCourierSetUp with %s', (_name, options) => {
  const { api, db, service } = withService(options);

  /** Reads the missing things per step, as the courier's user or as staff who name the courier. */
  async function missingOf(as: string, id?: string) {
    const { data } = await api.as(as).getCourierSetUp({ id }).ok();
    return Object.fromEntries(data.steps.map(({ step, missing }) => [step, missing]));
  }

  /** Creates a courier with nothing but its name, a user that is disabled, and an owner. Returns its id and the owner. */
  async function newCourier(code: string) {
    const login = { username: `first-${code.toLowerCase()}`, full_name: 'First' };
    const body = { action: 'create', courier_code: code, courier_name: code, house_color: '#0A7D5C', login };
    await api.as('manager').manageCouriers(unchecked(body)).ok();
    await db.query('update users set is_active = false where username = $1', [login.username]);
    const [courier] = await db.query<{ id: string }>('select id from couriers where code = $1', [code]);
    const courier_id = courier?.id ?? '';
    const { username } = await addUser(courier_id);
    return { id: courier_id, owner: username };
  }

  const addUser = (courier_id: string, fields: object = {}) =>
    insertMailedUser(service().owner, 'setup', {
      full_name: 'A User',
      role: 'courier',
      courier_id,
      ...fields,
    });

  test('names what a new courier lacks, and each step is done when its record is there', async () => {
    const { id, owner } = await newCourier('SETA');
    const begun = await api.as(owner).getCourierSetUp().ok();
    expect(begun.message).toBe('0 of 6 steps are done.');
    expect(begun.data.courier_id).toBe(id);
    expect(begun.data.steps.map(({ step }) => step)).toEqual(Object.keys(OPEN));
    expect(await missingOf(owner)).toEqual(OPEN);

    const contact = { email: 'a@courier.example', phone_number1: '+1 876 555 0190', city_town: 'Kingston' };
    await api.as(owner).updateCourierSettings(contact).ok();
    expect(await missingOf(owner)).toEqual({ ...OPEN, profile: ['address1'] });
    await api.as(owner).updateCourierSettings({ address1: '1 Quay' }).ok();
    const customer = { user_code: 'SETA-1', first_name: 'Ana', last_name: 'Bell' };
    await api.as(owner).createCustomer(customer).ok();
    expect(await missingOf(owner)).toEqual({ ...OPEN, profile: [], customers: [] });

    const sent = { tracking_number: newNumber(), user_code: 'SETA-1', vendor: 'Shop' };
    await api.as(owner).createPrealert(sent).created();
    await api
      .as(owner)
      .uploadLogo(multipart({ logo: { file: png() } }))
      .ok();
    await addUser(id, { is_courier_owner: false });
    expect(await missingOf(owner)).toEqual({ ...DONE, webhook: ['url'] });
    expect((await api.as(owner).getCourierSetUp().ok()).message).toBe('5 of 6 steps are done.');
  });

  test('a webhook is done when every URL has accepted a request, until its URL changes', async () => {
    const { id, owner } = await newCourier('SETB');
    const setUrl = (name: string, path: string) =>
      api
        .as(owner)
        .updateCourierSettings({ [name]: `https://partner.example/${path}` })
        .ok();
    const accept = (endpoint: string) =>
      db.query(
        `insert into webhook_endpoints (tenant_id, courier_id, endpoint, last_success_at)
         values ($1, $2, $3, now())
         on conflict (tenant_id, courier_id, endpoint) do update set last_success_at = now()`,
        [DEMO.tenants.demo, id, endpoint],
      );
    const webhook = async () => (await missingOf(owner))['webhook'];
    await setUrl('api_url_add_package', 'add');
    expect(await webhook()).toEqual(['success']);
    // A success of another endpoint says nothing about this one.
    await accept('update_package');
    expect(await webhook()).toEqual(['success']);
    await accept('add_package');
    expect(await webhook()).toEqual([]);
    await db.query('delete from webhook_endpoints where courier_id = $1 and endpoint = $2', [
      id,
      'update_package',
    ]);
    await setUrl('api_url_update_package', 'update');
    expect(await webhook()).toEqual(['success']);
    await accept('update_package');
    expect(await webhook()).toEqual([]);
    await setUrl('api_url_add_package', 'other');
    expect(await webhook()).toEqual(['success']);
  });

  test('a customer that is deactivated does not count, and owners and members read the same', async () => {
    const { id, owner } = await newCourier('SETC');
    const customer = { user_code: 'SETC-1', first_name: 'Ana', last_name: 'Bell', is_active: 0 } as const;
    await api.as(owner).createCustomer(customer).ok();
    const { username: member } = await addUser(id, { is_courier_owner: false });
    expect(await missingOf(owner)).toEqual({ ...OPEN, team: [] });
    expect(await missingOf(member)).toEqual({ ...OPEN, team: [] });
  });

  test('nothing of another courier or tenant counts, and a courier reads its own set-up whatever id it sends', async () => {
    const { id, owner } = await newCourier('SETD');
    // The demo's couriers have users, customers, pre-alerts and a logo.
    expect(await missingOf('manager', IEX)).toMatchObject({
      profile: [],
      customers: [],
      prealert: [],
      logo: [],
    });
    for (const other of [IEX, HRB, TWO, DEMO.users.admin])
      expect((await api.as(owner).getCourierSetUp({ id: other }).ok()).data.courier_id).toBe(id);
    expect(await missingOf(owner, IEX)).toEqual(OPEN);
    expect(await missingOf('manager', id)).toEqual(OPEN);
  });

  test('staff must name a courier of the tenant, and the warehouse has no permission', async () => {
    const { errors } = await api.as('admin').getCourierSetUp().refused(400, 'validation_failed');
    expect(errors).toMatchObject([{ field: 'id', code: 'required' }]);
    for (const id of [TWO, DEMO.users.admin])
      await api.as('manager').getCourierSetUp({ id }).refused(404, 'courier_not_found');
    await api.as('warehouse').getCourierSetUp({ id: IEX }).refused(403, 'permission_denied');
    await api.anonymous.getCourierSetUp({ id: IEX }).refused(401, 'token_missing');
  });
});
