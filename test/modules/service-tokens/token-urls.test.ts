import { beforeEach, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { makeTokenCalls } from './token-calls.js';

// A service token that names a URL before anybody has set api_token must not get it later.

const { api, db, service } = withService();
const { create } = makeTokenCalls(api);
const id = DEMO.couriers.IEX;
const PLANTED = 'https://planted.example/hook';
const OWN = 'https://iex.example/hook';
const TOKEN = 'SECRET-OF-IEX';

let token: string;
beforeEach(async () => {
  await service().owner.query(
    `update couriers set api_url_get_customers = null, api_url_add_package = null, api_url_update_package = null,
       api_token_cipher = null, urls_of_tokens = '{}' where id = $1`,
    [id],
  );
  await service().owner.query("delete from courier_quotas where kind = 'target_changes'");
  token = (await create('iex', { scopes: ['webhooks:manage'] })).secret;
});

const byToken = (body: object) => api.withToken(token).updateCourierSettings(unchecked(body));
const byUser = (body: object) => api.as('iex').updateCourierSettings(unchecked(body));
const hasToken = async () => (await db.courier(id)).api_token_cipher !== null;

test('a user sets api_token only together with the URLs that a service token has named', async () => {
  await byUser({ api_url_get_customers: OWN }).ok();
  await byToken({
    api_url_add_package: PLANTED,
    api_url_update_package: 'https://second.example:8443/x',
  }).ok();
  const asked = [
    {
      field: 'api_url_add_package',
      code: 'required',
      message: expect.stringContaining('https://planted.example.'),
    },
    {
      field: 'api_url_update_package',
      code: 'required',
      message: expect.stringContaining('https://second.example:8443.'),
    },
  ];
  const setToken = { api_token: TOKEN };
  expect((await byUser(setToken).refused(400, 'validation_failed')).body.errors).toEqual(asked);
  const staff = api.as('admin').updateCourierSettings(setToken, { query: { id } });
  expect((await staff.refused(400, 'validation_failed')).body.errors).toEqual(asked);
  const withOne = await byUser({ ...setToken, api_url_add_package: OWN }).refused(400, 'validation_failed');
  expect(withOne.body.errors).toEqual(asked.slice(1));
  expect(await hasToken()).toBe(false);
  expect(await db.courier(id)).toMatchObject({ api_url_add_package: PLANTED });
  await byUser({ phone_number1: '+1 876 555 0199' }).ok();
  await byUser({ ...setToken, api_url_add_package: PLANTED, api_url_update_package: '' }).ok();
  expect(await hasToken()).toBe(true);
  expect(await db.courier(id)).toMatchObject({ api_url_add_package: PLANTED, api_url_update_package: null });
  await byUser({ api_token: 'ANOTHER' }).ok();
});

test('a user confirms a URL by sending it, which the audit log has, and a service token confirms none', async () => {
  await byToken({ api_url_add_package: PLANTED }).ok();
  await byToken({ api_url_add_package: PLANTED }).ok();
  await byToken({ api_url_update_package: PLANTED }).ok();
  await byUser({ api_token: TOKEN }).refused(400, 'validation_failed');
  expect((await byUser({ api_url_add_package: PLANTED }).ok()).message).toBe('Settings saved.');
  const [entry] = await db.query(
    "select before, after from audit_entries where entity_id = $1 and action = 'courier.updated' order by id desc limit 1",
    [id],
  );
  expect(entry).toEqual({
    before: { urls_of_tokens: ['api_url_add_package', 'api_url_update_package'] },
    after: { urls_of_tokens: ['api_url_update_package'] },
  });
  await byUser({ api_token: TOKEN }).refused(400, 'validation_failed');
  await byUser({ api_url_update_package: PLANTED, api_token: TOKEN }).ok();
});

test('a user sets api_token alone if each URL is one that a user has chosen', async () => {
  await byUser({ api_url_add_package: OWN }).ok();
  await byToken({ api_url_add_package: '', api_url_update_package: OWN }).ok();
  await byUser({ api_token: TOKEN }).ok();
  expect(await hasToken()).toBe(true);
  await byUser({ api_token: '' }).ok();
  await byToken({ api_url_update_package: `${OWN}/other` }).ok();
  await byUser({ api_token: TOKEN }).refused(400, 'validation_failed');
  await byToken({ api_url_update_package: PLANTED }).ok();
  await byUser({ api_token: TOKEN }).refused(400, 'validation_failed');
  await byToken({ api_url_update_package: '' }).ok();
  await byUser({ api_token: TOKEN }).ok();
});

test('a service token names no new URL while the stored api_token cannot be decrypted', async () => {
  await byUser({ api_url_add_package: OWN, api_token: TOKEN }).ok();
  await service().owner.query(
    "update couriers set api_token_cipher = overlay(api_token_cipher placing 'AAAA' from length(api_token_cipher) - 8) where id = $1",
    [id],
  );
  await byToken({ api_url_add_package: PLANTED }).refused(403, 'token_not_accepted');
});
