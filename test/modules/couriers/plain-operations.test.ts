import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { png } from '../../support/readers/pictures.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked, multipart } from '../../support/fixture/sent.js';

const { IEX, HRB } = DEMO.couriers;

const { api, db } = withService();

const settingsOf = async (as: string) => (await api.as(as).getCourierSettings().ok()).data;

const submit = (key: string, TrackingNumber: string) =>
  api.withKey(key).submitPrealert({ UserCode: 'IEX-1001', TrackingNumber });

const lastAudit = async (courierId: string) => (await db.auditOf(courierId)).at(-1);

const inJson = (courier_id?: string) => unchecked({ courier_id });
const inForm = (courier_id?: string) =>
  multipart({ logo: { file: png() }, ...(courier_id ? { courier_id } : {}) });

describe.each([
  ['regenerateApiKey', inJson],
  ['rotateWebhookSecret', inJson],
  ['endPreviousWebhookSecret', inJson],
  ['deleteLogo', inJson],
  ['uploadLogo', inForm],
] as const)('%s', (id, bodyFor) => {
  test('refuses staff who name no courier, an unknown courier, and callers without the permission', async () => {
    const manager = api.as('manager');
    const { errors } = await manager.call(id, bodyFor()).refused(400, 'validation_failed');
    expect(errors).toMatchObject([{ field: 'courier_id', code: 'required' }]);
    await manager.call(id, bodyFor(DEMO.users.admin)).refused(404, 'courier_not_found');
    await api.as('warehouse').call(id, bodyFor(IEX)).refused(403, 'permission_denied');
    await api.anonymous.call(id, bodyFor(IEX)).refused(401, 'token_missing');
  });

  test('changes the account of the courier that calls it, whatever courier_id says', async () => {
    const before = await db.courier(HRB);
    await api.as('iex').call(id, bodyFor(HRB)).ok();
    expect(await db.courier(HRB)).toEqual(before);
    expect(await lastAudit(IEX)).toMatchObject({ actor_id: DEMO.users.iex });
  });
});

describe('regenerateApiKey', () => {
  test('replaces the key at once, like the action regenerate_key', async () => {
    const old = (await settingsOf('iex')).api_key ?? '';
    const { message, data } = await api.as('iex').regenerateApiKey().ok();
    expect(message).toBe('New API key created. The previous key no longer works.');
    const key = data.api_key;
    expect((await settingsOf('iex')).api_key).toBe(key);
    expect([await submit(old, 'PLAIN-1').status(), await submit(key, 'PLAIN-1').status()]).toEqual([
      403, 201,
    ]);
    expect(await lastAudit(IEX)).toMatchObject({
      action: 'courier.key_regenerated',
      before: null,
      after: null,
    });
  });

  test('returns the same key again for the same Idempotency-Key', async () => {
    const call = {
      as: 'manager',
      body: { courier_id: IEX },
      headers: { 'idempotency-key': 'plain-key-0001' },
    };
    const first = await api.with(call).regenerateApiKey().ok();
    const again = await api.with(call).regenerateApiKey().ok();
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.data.api_key).toBe(first.data.api_key);
    expect((await settingsOf('iex')).api_key).toBe(first.data.api_key);
  });

  // PHP's curl names this media type for a POST without fields.
  test('accepts an empty body of any media type', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    await api.as('iex').regenerateApiKey('', { headers }).ok();
  });
});

test('rotateWebhookSecret replaces the secret, and the old one keeps signing for a day', async () => {
  const { webhook_secret: first } = (await api.as('iex').rotateWebhookSecret().ok()).data;
  const again = await api.as('manager').rotateWebhookSecret({ courier_id: IEX }).ok();
  expect(again.message).toBe('New secret created. The previous secret also signs for 24 hours.');
  const { webhook_secret: current, webhook_secret_rotated_at: rotatedAt } = await settingsOf('iex');
  expect(current).toBe(again.data.webhook_secret);
  expect([current === first, typeof rotatedAt]).toEqual([false, 'string']);
  expect(await lastAudit(IEX)).toMatchObject({ action: 'courier.webhook_secret_rotated' });
});

describe('the logo', () => {
  const show = (path: string) => {
    const [, courier_id = '', file = ''] = path.split('/');
    return api.anonymous.getCourierLogo(unchecked({}), { path: { courier_id, file } });
  };

  test('is stored by uploadLogo and removed by deleteLogo, with an audit entry each', async () => {
    await api.as('iex').deleteLogo().ok();
    const stored = await api
      .as('iex')
      .uploadLogo(multipart({ logo: { file: png() } }))
      .ok();
    const { path } = stored.data;
    expect((await settingsOf('iex')).logo_path).toBe(path);
    await show(path).ok();
    expect(await lastAudit(IEX)).toMatchObject({
      action: 'courier.logo_replaced',
      after: { logo_path: path },
    });

    const deleted = await api.as('manager').deleteLogo({ courier_id: IEX }).ok();
    expect(deleted.message).toBe('Logo deleted.');
    expect((await settingsOf('iex')).logo_path).toBeNull();
    expect(await show(path).status()).toBe(404);
    const entry = { action: 'courier.logo_deleted', before: { logo_path: path }, after: { logo_path: null } };
    expect(await lastAudit(IEX)).toMatchObject(entry);

    const again = await api.as('iex').deleteLogo().ok();
    expect(again.message).toBe('There is no logo. Nothing was changed.');
    expect(await lastAudit(IEX)).toMatchObject(entry);
  });

  test('is refused by uploadLogo if courier_id cannot be stored as text', async () => {
    const form = { logo: { file: png() }, courier_id: 'a\0b' };
    const { errors } = await api.as('manager').uploadLogo(multipart(form)).refused(400, 'invalid_encoding');
    expect(errors).toMatchObject([{ field: 'courier_id' }]);
  });

  test('is refused by uploadLogo if it is missing or no picture', async () => {
    const { errors } = await api
      .as('manager')
      .uploadLogo(multipart({ courier_id: IEX }))
      .refused(400, 'validation_failed');
    expect(errors).toMatchObject([{ field: 'logo', code: 'required' }]);
    const form = { logo: { file: 'GIF89a' } };
    await api.as('iex').uploadLogo(multipart(form)).refused(400, 'logo_not_acceptable');
  });
});
