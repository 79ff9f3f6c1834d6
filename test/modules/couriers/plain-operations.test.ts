import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { png } from '../../support/readers/pictures.js';
import { type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked, multipart } from '../../support/fixture/sent.js';

const { IEX, HRB } = DEMO.couriers;

const { api, service } = withService();

const settingsOf = async (as: string) => (await api.as(as).getCourierSettings().ok()).data;

const submit = (key: string, TrackingNumber: string) =>
  api.withKey(key).submitPrealert({ UserCode: 'IEX-1001', TrackingNumber });

async function lastAudit(courierId: string): Promise<object | undefined> {
  const { rows } = await service().owner.query<object>(
    'select action, actor_id, before, after from audit_entries where entity_id = $1 order by id desc limit 1',
    [courierId],
  );
  return rows[0];
}

const CHANGES = [
  ['regenerateApiKey', (courier_id?: string) => ({ body: { courier_id } })],
  ['rotateWebhookSecret', (courier_id?: string) => ({ body: { courier_id } })],
  ['endPreviousWebhookSecret', (courier_id?: string) => ({ body: { courier_id } })],
  ['deleteLogo', (courier_id?: string) => ({ body: { courier_id } })],
  [
    'uploadLogo',
    (courier_id?: string) => ({ form: { logo: { file: png() }, ...(courier_id ? { courier_id } : {}) } }),
  ],
] as const;

describe.each(CHANGES)('%s', (id, callFor) => {
  test('refuses staff who name no courier, an unknown courier, and callers without the permission', async () => {
    expect(await service().call(id, { as: 'manager', ...callFor() })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'courier_id', code: 'required' }] },
    });
    expect(await service().call(id, { as: 'manager', ...callFor(DEMO.users.admin) })).toMatchObject({
      status: 404,
      body: { code: 'courier_not_found' },
    });
    expect(await service().call(id, { as: 'warehouse', ...callFor(IEX) })).toMatchObject({ status: 403 });
    expect(await service().call(id, callFor(IEX))).toMatchObject({ status: 401 });
  });

  test('changes the account of the courier that calls it, whatever courier_id says', async () => {
    const { rows: before } = await service().owner.query('select * from couriers where id = $1', [HRB]);
    expect((await service().call(id, { as: 'iex', ...callFor(HRB) })).status).toBe(200);
    const { rows: after } = await service().owner.query('select * from couriers where id = $1', [HRB]);
    expect(after).toEqual(before);
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
    const keyOf = ({ body }: Reply): string => body['data'].api_key;
    const [first, again] = [
      await api.with(call).regenerateApiKey().answer(),
      await api.with(call).regenerateApiKey().answer(),
    ];
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(keyOf(again)).toBe(keyOf(first));
    expect((await settingsOf('iex')).api_key).toBe(keyOf(first));
  });

  // PHP's curl names this media type for a POST without fields.
  test('accepts an empty body of any media type', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    await api.as('iex').regenerateApiKey('', { headers }).ok();
  });
});

test('rotateWebhookSecret replaces the secret, and the old one keeps signing for a day', async () => {
  const { data } = await api.as('iex').rotateWebhookSecret().answer();
  const first: string = data.webhook_secret;
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
    const path: string = stored.data.path;
    expect((await settingsOf('iex')).logo_path).toBe(path);
    await show(path).ok();
    expect(await lastAudit(IEX)).toMatchObject({
      action: 'courier.logo_replaced',
      after: { logo_path: path },
    });

    const deleted = await api.as('manager').deleteLogo({ courier_id: IEX }).answer();
    expect([deleted.status, deleted.message]).toEqual([200, 'Logo deleted.']);
    expect((await settingsOf('iex')).logo_path).toBeNull();
    expect(await show(path).status()).toBe(404);
    const entry = { action: 'courier.logo_deleted', before: { logo_path: path }, after: { logo_path: null } };
    expect(await lastAudit(IEX)).toMatchObject(entry);

    const again = await api.as('iex').deleteLogo().answer();
    expect([again.status, again.message]).toEqual([200, 'There is no logo. Nothing was changed.']);
    expect(await lastAudit(IEX)).toMatchObject(entry);
  });

  test('is refused by uploadLogo if courier_id cannot be stored as text', async () => {
    const form = { logo: { file: png() }, courier_id: 'a\0b' };
    expect(await api.as('manager').uploadLogo(multipart(form)).answer()).toMatchObject({
      status: 400,
      body: { code: 'invalid_encoding', errors: [{ field: 'courier_id' }] },
    });
  });

  test('is refused by uploadLogo if it is missing or no picture', async () => {
    expect(
      await api
        .as('manager')
        .uploadLogo(multipart({ courier_id: IEX }))
        .answer(),
    ).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'logo', code: 'required' }] },
    });
    const form = { logo: { file: 'GIF89a' } };
    await api.as('iex').uploadLogo(multipart(form)).refused(400, 'logo_not_acceptable');
  });
});
