import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeTokenCalls } from './token-calls.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';

const { api, db, service } = withService({ env: { TRUST_PROXY: '127.0.0.1' } });
const { create, manage, rotate, packages } = makeTokenCalls(api);

const setTo = (id: string, assignment: string) =>
  db.query(`update service_tokens set ${assignment} where id = $1`, [id]);

test('a change of the scopes applies to the next request', async () => {
  const { id, secret } = await create('iex', { scopes: ['bills:read'] });
  const refusal = await packages(secret).refused(403, 'scope_missing');
  expect(refusal.message).toContain('packages:read');
  await manage('iex', { action: 'update', token_id: id, scopes: ['bills:read', 'packages:read'] }).ok();
  await packages(secret).ok();
  await manage('iex', { action: 'update', token_id: id, scopes: ['bills:read'] }).ok();
  await packages(secret).refused(403, 'scope_missing');
});

test('after a rotation both secrets work until the overlap ends', async () => {
  const { id, secret } = await create('iex');
  const rotated = await manage('iex', { action: 'rotate', token_id: id, overlap_hours: 48 }).ok();
  const second = rotated.data.token ?? '';
  expect(rotated.data.service_token).toMatchObject({
    hint: second.slice(-6),
    previous_hint: secret.slice(-6),
  });
  await packages(secret).ok();
  await packages(second).ok();
  await setTo(id, "previous_ends_at = now() - interval '1 second'");
  await packages(secret).refused(401, 'service_token_replaced');
  await packages(second).ok();
  const { data } = await api.as('iex').listServiceTokens({ limit: 100 }).ok();
  expect(data.find(({ token_id }) => token_id === id)).toMatchObject({
    previous_hint: null,
    previous_ends_at: null,
  });
});

test('an overlap of 0 hours, or a second rotation, ends the oldest secret at once', async () => {
  const { id, secret } = await create('iex');
  const second = await rotate('iex', id);
  const third = await rotate('iex', id);
  await packages(secret).refused(401, 'service_token_invalid');
  await packages(second).ok();
  const fourth = await rotate('iex', id, { overlap_hours: 0 });
  await packages(third).refused(401, 'service_token_replaced');
  await packages(fourth).ok();
});

test('a revoked token is refused with all of its secrets, and cannot be changed', async () => {
  const { id, secret } = await create('iex');
  const second = await rotate('iex', id);
  expect((await manage('iex', { action: 'revoke', token_id: id }).ok()).message).toBe(
    'Service token revoked.',
  );
  for (const each of [secret, second]) await packages(each).refused(401, 'service_token_revoked');
  for (const action of ['update', 'rotate'])
    await manage('iex', { action, token_id: id }).refused(409, 'service_token_ended');
  const again = await manage('iex', { action: 'revoke', token_id: id }).ok();
  expect(again.message).toMatch(/Nothing was changed/);
  const ended = await api.as('iex').listServiceTokens({ is_active: false, limit: 100 }).ok();
  expect(ended.data.map(({ token_id }) => token_id)).toContain(id);
});

test('an expired token is refused until it is extended', async () => {
  const { id, secret } = await create('iex');
  await setTo(id, "expires_at = now() - interval '1 second'");
  await packages(secret).refused(401, 'service_token_expired');
  await manage('iex', { action: 'update', token_id: id, expires_in_days: 30 }).ok();
  await packages(secret).ok();
});

test('a token with addresses is refused from every other one, by the address that the trusted proxy reports', async () => {
  const { secret } = await create('iex', { addresses: ['203.0.113.0/28', '2001:db8::1'] });
  const from = (address: string) => packages(secret, { 'x-forwarded-for': address });
  for (const address of ['203.0.113.0', '203.0.113.15', '2001:db8::1', '::ffff:203.0.113.7'])
    await from(address).ok();
  for (const address of ['203.0.113.16', '198.51.100.1', '2001:db8::2'])
    await from(address).refused(403, 'address_not_allowed');
  await packages(secret).refused(403, 'address_not_allowed');
});

test('a token of a disabled courier is refused', async () => {
  const { secret } = await create('admin', { courier_id: DEMO.couriers.HRB });
  await db.query('update couriers set is_active = false where id = $1', [DEMO.couriers.HRB]);
  await packages(secret).refused(403, 'account_disabled');
  await db.query('update couriers set is_active = true where id = $1', [DEMO.couriers.HRB]);
  await packages(secret).ok();
});

test('a damaged token, one of another tenant and one that does not exist are refused', async () => {
  const { id, secret } = await create('iex');
  const damaged = `${secret.slice(0, 40)}${secret[40] === 'x' ? 'y' : 'x'}${secret.slice(41)}`;
  for (const token of [damaged, secret.slice(0, -1), 'cdk_'])
    await packages(token).refused(401, 'service_token_invalid');
  await api.withToken(secret, DEMO.hosts.two).listPackages({}).refused(401, 'service_token_invalid');
  await db.query('delete from service_tokens where id = $1', [id]);
  await packages(secret).refused(401, 'service_token_invalid');
});

test('a token of a courier sees only the rows of that courier, and one of the staff those of the tenant', async () => {
  const courier = await create('iex');
  const staff = await create('admin', { scopes: ['packages:read'] });
  const total = async (token: string) => (await packages(token).ok()).meta.total_count;
  const stored = (where: object = {}) => db.count('packages', { tenant_id: DEMO.tenants.demo, ...where });
  expect(await total(courier.secret)).toBe(await stored({ courier_id: DEMO.couriers.IEX }));
  expect(await total(staff.secret)).toBe(await stored());
});

test('Prealert.php accepts a token of a courier with prealerts:write, and the key stays as it is', async () => {
  const submit = (token: string, number: string) =>
    api.withToken(token).submitPrealert({ UserCode: 'IEX-1001', TrackingNumber: number });
  const { id, secret } = await create('iex', { scopes: ['prealerts:write'] });
  const created = await submit(secret, '1Z999AA10987654321').created();
  expect(await db.prealert(created.data.prealert_id)).toMatchObject({ courier_id: DEMO.couriers.IEX });
  const [entry] = await db.auditOf(created.data.prealert_id);
  expect(entry).toMatchObject({ action: 'prealert.created', actor_kind: 'api_key', actor_id: id });
  await submit(secret, '1Z999AA10987654321').refused(409, 'duplicate_tracking_number');
  const reader = await create('iex');
  await submit(reader.secret, 'TOKEN-1000000').refused(403, 'scope_missing');
  const staff = await create('admin', { scopes: ['prealerts:write'] });
  await submit(staff.secret, 'TOKEN-1000001').refused(403, 'token_not_accepted');
  await submit(await service().tokenOf('iex'), 'TOKEN-1000002').refused(401, 'key_missing');
  await manage('iex', { action: 'revoke', token_id: id }).ok();
  await submit(secret, 'TOKEN-1000003').refused(401, 'service_token_revoked');
  await api
    .withKey(DEMO.apiKeys.IEX)
    .submitPrealert({ UserCode: 'IEX-1001', TrackingNumber: 'TOKEN-1000004' })
    .created();
});

test('a token reads no API key, and changes webhook URLs but nothing else of the settings', async () => {
  const { secret } = await create('iex', { scopes: ['webhooks:manage'] });
  const own = api.withToken(secret);
  const read = await own.getCourierSettings({}).ok();
  expect(read.data).toMatchObject({ courier_id: DEMO.couriers.IEX, api_key: null, api_token: null });
  expect((await api.as('iex').getCourierSettings({}).ok()).data.api_key).toBe(DEMO.apiKeys.IEX);
  const changed = await own.updateCourierSettings(unchecked({ add_package_format: 'flat' })).ok();
  expect(changed.data).toMatchObject({ add_package_format: 'flat', api_key: null, api_token: null });
  for (const body of [
    { action: 'regenerate_key' },
    { courier_name: 'X' },
    { api_token: 'x' },
    { add_package_format: 'flat', email: '' },
  ])
    await own.updateCourierSettings(unchecked(body)).refused(403, 'token_not_accepted');
  await own.updateCourierSettings(unchecked({ action: 'rotate_webhook_secret' })).ok();
  await own.regenerateApiKey({}).refused(403, 'token_not_accepted');
  expect((await db.courier(DEMO.couriers.IEX)).name).not.toBe('X');
});

test('a token sends the api_token of the courier to no URL that a user has not set', async () => {
  const { secret } = await create('iex', { scopes: ['webhooks:manage'] });
  const staff = await create('admin', { scopes: ['webhooks:manage'] });
  const id = DEMO.couriers.IEX;
  const set = (token: string, url: string) =>
    api.withToken(token).updateCourierSettings(unchecked({ api_url_add_package: url }), { query: { id } });
  await api
    .as('iex')
    .updateCourierSettings({ api_url_add_package: 'https://iex.example/a', api_token: 'SECRET-OF-IEX' })
    .ok();
  const others = [
    'https://other.example/a',
    'https://iex.example:8443/a',
    // One host may receive the webhooks of many.
    'https://iex.example/b',
    'https://iex.example/a?c=d',
  ];
  for (const url of others)
    for (const caller of [secret, staff.secret]) await set(caller, url).refused(403, 'token_not_accepted');
  expect(await db.courier(id)).toMatchObject({ api_url_add_package: 'https://iex.example/a' });
  const swapped = { api_url_add_package: '', api_url_update_package: 'https://iex.example/a' };
  await api.withToken(secret).updateCourierSettings(unchecked(swapped)).ok();
  await api.as('iex').updateCourierSettings({ api_token: '' }).ok();
  await set(secret, 'https://other.example/a').ok();
});

test('the time and the address of the last use are stored', async () => {
  const { id, secret } = await create('iex');
  await packages(secret, { 'x-forwarded-for': '198.51.100.77' }).ok();
  await service().app.tokenUse.flush();
  const { data } = await api.as('iex').listServiceTokens({ limit: 100 }).ok();
  expect(data.find(({ token_id }) => token_id === id)).toMatchObject({
    last_used_at: expect.stringMatching(/^\d{4}-/),
    last_used_address: '198.51.100.77',
  });
});

test('200 concurrent uses: none that is sent after the reply to the revocation is accepted', async () => {
  await db.query("delete from principal_quotas where kind = 'service_tokens'");
  const { id, secret } = await create('iex');
  const uses: Promise<{ sentAfter: boolean; status: number }>[] = [];
  let isRevoked = false;
  const send = async () => {
    const sentAfter = isRevoked;
    const { status } = await packages(secret).answer();
    return { sentAfter, status };
  };
  for (let n = 0; n < 100; n += 1) uses.push(send());
  await manage('iex', { action: 'revoke', token_id: id }).ok();
  isRevoked = true;
  for (let n = 0; n < 100; n += 1) uses.push(send());
  const done = await Promise.all(uses);
  expect(done.filter(({ sentAfter }) => sentAfter).map(({ status }) => status)).toEqual(
    Array<number>(100).fill(401),
  );
  expect(done.filter(({ sentAfter, status }) => !sentAfter && status === 200)).not.toEqual([]);
});
