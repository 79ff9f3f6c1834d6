import { request as httpRequest } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { NDJSON, toLines } from '../prealerts/batches/batch-calls.js';
import { makeTokenCalls } from '../service-tokens/token-calls.js';
import { makeLogReader } from './log-reader.js';

const fixture = withService({ env: { TRUST_PROXY: '127.0.0.1' } });
const { api, db, service } = fixture;
const { find, list } = makeLogReader(fixture);
const tokens = makeTokenCalls(api);
const byKey = api.withKey(DEMO.apiKeys.IEX);

let serial = 0;
const prealert = (fields: object = {}) =>
  unchecked({ UserCode: 'IEX-1001', TrackingNumber: `LOG${(serial += 1)}7700`, ...fields });

test('a call is found by no more parcels than its operation can name, whatever unknown fields it has', async () => {
  const unknown = Array.from({ length: 1_000 }, (_, n) => ({
    tracking_number: `1Z${String(n).padStart(16, '7')}`,
  }));
  const sent = await byKey.submitPrealert(prealert({ unknown })).created();
  expect((await find('iex', sent))?.parcel_count).toBe(10);
});

describe('each credential of a courier', () => {
  test('the API key: a success has the operation, the parcel and the end of the key', async () => {
    const sent = await byKey.submitPrealert(prealert({ TrackingNumber: '1Z999AA10123456784' })).created();
    const call = await find('iex', sent);
    expect(call).toMatchObject({
      request_id: sent.requestId,
      courier_id: DEMO.couriers.IEX,
      courier_name: 'Island Express',
      operation: 'submitPrealert',
      method: 'POST',
      path: '/api/Prealert.php',
      status: 201,
      code: null,
      credential: 'api_key',
      credential_id: null,
      credential_name: null,
      credential_hint: DEMO.apiKeys.IEX.slice(-6),
      is_replayed: false,
      parcels: ['1Z999AA10123456784'],
      parcel_count: 1,
    });
    const [row] = await db.query<{ age: number }>(
      'select abs(extract(epoch from now() - called_at))::float8 as age from api_calls where request_id = $1',
      [sent.requestId],
    );
    expect(row?.age).toBeLessThan(60);
  });

  test('a service token: by its name, and the end of the secret that was used', async () => {
    const { id, secret, record } = await tokens.create('iex');
    const rotated = await tokens.rotate('iex', id);
    for (const each of [secret, rotated]) {
      const call = await find('iex', await tokens.packages(each).ok());
      expect(call).toMatchObject({
        operation: 'listPackages',
        credential: 'service_token',
        credential_id: id,
        credential_name: record.name,
        credential_hint: each.slice(-6),
      });
    }
  });

  test('the access token of a user in the header, but not the session of a browser', async () => {
    const sent = await api.as('iex').getCourierSettings().ok();
    expect(await find('iex', sent)).toMatchObject({
      operation: 'getCourierSettings',
      credential: 'access_token',
      credential_id: DEMO.users.iex,
      credential_name: 'iex',
      credential_hint: null,
    });
    const cookie = `crossdock-session=${await service().freshTokenOf('iex')}`;
    const ofPage = { 'x-crossdock-user': DEMO.users.iex, 'sec-fetch-site': 'same-origin' };
    const page = await api
      .with({ headers: { cookie, ...ofPage } })
      .getCourierSettings()
      .ok();
    expect(await find('iex', page)).toBeUndefined();
    const login = await api
      .as('iex', { isFresh: true })
      .createDeviceSession({ action: 'start' }, { headers: ofPage })
      .ok();
    expect(await find('iex', login)).toBeUndefined();
  });

  test('no call of the staff, with a session or a service token', async () => {
    const { secret } = await tokens.create('admin', { scopes: ['packages:read'] });
    const sent = [await tokens.packages(secret).ok(), await api.as('manager').listPackages({}).ok()];
    for (const each of sent) expect(await find('admin', each)).toBeUndefined();
  });
});

describe('a refused call', () => {
  test('has the code of the failure and the parcel that it named', async () => {
    const body = prealert({ TrackingNumber: '1Z999AA10123456784' });
    await byKey.submitPrealert(body).answer();
    const refused = await byKey.submitPrealert(body).refused(409, 'duplicate_tracking_number');
    expect(await find('iex', refused)).toMatchObject({
      status: 409,
      code: 'duplicate_tracking_number',
      parcels: ['1Z999AA10123456784'],
    });
  });

  test('never has the text that was sent instead of a number', async () => {
    const bodies = [
      { TrackingNumber: 'for Ann Lee 3rd floor' },
      { TrackingNumber: 'x'.repeat(90) + ' 1' },
      {},
    ];
    for (const fields of bodies) {
      const { requestId } = await byKey.submitPrealert(unchecked({ UserCode: '?', ...fields })).answer();
      const { parcels } = (await find('iex', { requestId })) ?? {};
      for (const parcel of parcels ?? ['no call']) expect(parcel).toMatch(/^[0-9A-Z-]{1,64}$/);
    }
    expect(await db.query("select from api_call_parcels where parcel_key ~ '[ a-z]'")).toEqual([]);
  });

  test('is logged for a body that is too large or of another type, which is refused before the credential is read', async () => {
    await byKey.submitPrealert(prealert()).created();
    const large = await byKey
      .submitPrealert(unchecked(JSON.stringify({ UserCode: 'x'.repeat(70_000) })))
      .refused(413, 'body_too_large');
    expect(await find('iex', large)).toMatchObject({
      status: 413,
      code: 'body_too_large',
      credential: 'api_key',
    });
    const other = await byKey
      .submitPrealert(unchecked('<a/>'), { headers: { 'content-type': 'text/xml' } })
      .refused(415, 'unsupported_media_type');
    expect(await find('iex', other)).toMatchObject({ status: 415, code: 'unsupported_media_type' });
  });

  test('is logged for a token that has expired, was revoked, or is used from another address', async () => {
    const limited = await tokens.create('iex', { addresses: ['203.0.113.0/28'] });
    const elsewhere = await tokens.packages(limited.secret).refused(403, 'address_not_allowed');
    expect(await find('iex', elsewhere)).toMatchObject({
      code: 'address_not_allowed',
      credential_id: limited.id,
    });
    const { id, secret } = await tokens.create('iex');
    await tokens.manage('iex', { action: 'revoke', token_id: id }).ok();
    const revoked = await tokens.packages(secret).refused(401, 'service_token_revoked');
    expect(await find('iex', revoked)).toMatchObject({
      status: 401,
      code: 'service_token_revoked',
      credential_hint: secret.slice(-6),
    });
  });

  test('is in no log for a key or a token that nobody has, also one that names the courier', async () => {
    const { id, secret } = await tokens.create('iex');
    await db.query("update service_tokens set token_hash = 'another', previous_hash = null where id = $1", [
      id,
    ]);
    const forged = await tokens.packages(secret).refused(401, 'service_token_invalid');
    const large = await api
      .withToken(secret)
      .submitPrealert(unchecked(JSON.stringify({ UserCode: 'x'.repeat(70_000) })))
      .refused(413, 'body_too_large');
    const unknown = await api.withKey('0'.repeat(64)).submitPrealert(prealert()).refused(403, 'key_invalid');
    const largeOfUnknown = await api
      .withKey('0'.repeat(64))
      .submitPrealert(unchecked(JSON.stringify({ UserCode: 'x'.repeat(70_000) })))
      .refused(413, 'body_too_large');
    for (const each of [forged, large, unknown, largeOfUnknown]) {
      expect(await find('admin', each)).toBeUndefined();
      expect(await db.count('api_calls', { request_id: each.requestId ?? '' })).toBe(0);
    }
  });

  test('with a key that this process has not seen before is found by the database', async () => {
    const large = await api
      .withKey(DEMO.apiKeys.HRB)
      .submitPrealert(unchecked(JSON.stringify({ UserCode: 'x'.repeat(70_000) })))
      .refused(413, 'body_too_large');
    expect(await find('hrb', large)).toMatchObject({ courier_id: DEMO.couriers.HRB, status: 413 });
  });
});

test('a repetition with the same Idempotency-Key is marked, the first call is not', async () => {
  const body = prealert();
  const headers = { 'idempotency-key': 'log-1' };
  const first = await byKey.submitPrealert(body, { headers }).created();
  const second = await byKey.submitPrealert(body, { headers }).created();
  expect(await find('iex', first)).toMatchObject({ is_replayed: false, status: 201 });
  expect(await find('iex', second)).toMatchObject({ is_replayed: true, status: 201 });
});

test('a batch is found by each of its numbers, and shows the first five', async () => {
  const numbers = Array.from({ length: 120 }, (_, n) => `BATCH${1_000 + n}X`);
  const lines = toLines(numbers.map((TrackingNumber) => ({ UserCode: 'IEX-1001', TrackingNumber })));
  const sent = await byKey.submitPrealert(unchecked(lines), { headers: NDJSON }).ok();
  const call = await find('iex', sent);
  expect(call).toMatchObject({ status: 200, parcel_count: 120, parcels: numbers.slice(0, 5) });
  for (const parcel of [numbers[0], numbers[119]]) {
    const { data } = await list('iex', { parcel: parcel ?? '' });
    expect(data.map(({ request_id }) => request_id)).toEqual([sent.requestId]);
  }
});

test('a call is found by the spelling of a scanner, and by the id of a package', async () => {
  const sent = await byKey.submitPrealert(prealert({ TrackingNumber: '9400111899223197428490' })).created();
  const label = await list('iex', { parcel: '420331669400111899223197428490' });
  expect(label.data.map(({ request_id }) => request_id)).toContain(sent.requestId);
  const id = DEMO.packages.available.IEX[0] ?? '';
  const read = await api.as('iex').listPackageEvents({ package_id: id }).ok();
  const { data } = await list('iex', { parcel: id.toUpperCase() });
  expect(data.map(({ request_id }) => request_id)).toContain(read.requestId);
  expect((await list('iex', { parcel: 'no number at all' })).data).toEqual([]);
});

test('a client that leaves before its response has a call without status', async () => {
  const blocker = await service().owner.connect();
  try {
    await blocker.query('begin');
    await blocker.query('lock table prealerts in access exclusive mode');
    const { hostname, port } = new URL(service().url);
    const body = JSON.stringify({ UserCode: 'IEX-1001', TrackingNumber: 'LEFT1234567' });
    const sent = httpRequest({ hostname, port, method: 'POST', path: '/api/Prealert.php' });
    sent.on('error', () => undefined);
    sent.setHeader('x-api-key', DEMO.apiKeys.IEX);
    sent.setHeader('content-type', 'application/json');
    sent.end(body);
    await untilWaiting();
    sent.destroy();
    const { data } = await untilListed({ status_class: 'aborted' });
    expect(data).toMatchObject([
      { operation: 'submitPrealert', status: null, code: null, parcels: ['LEFT1234567'] },
    ]);
  } finally {
    await blocker.query('rollback');
    blocker.release();
  }

  async function untilWaiting(): Promise<void> {
    const waiting =
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    while ((await service().owner.query(waiting)).rows.length === 0) await pause();
  }

  async function untilListed(query: Record<string, string>) {
    for (;;) {
      const found = await list('iex', query);
      if (found.data.length > 0) return found;
      await pause();
    }
  }
}, 20_000);

const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

test('no secret and no body is in the tables', async () => {
  const { secret } = await tokens.create('iex');
  await tokens.packages(secret).ok();
  await byKey.submitPrealert(prealert({ Vendor: 'Vendor of a secret parcel' })).created();
  await api.anonymous.submitPrealert(prealert(), { query: { api_key: DEMO.apiKeys.IEX } }).created();
  await service().app.callLog.flush();
  const [{ text } = { text: '' }] = await db.query<{ text: string }>(
    `select string_agg(row_to_json(c)::text, ' ') || coalesce((select string_agg(row_to_json(p)::text, ' ') from api_call_parcels p), '') as text
     from api_calls c`,
  );
  for (const hidden of [secret, DEMO.apiKeys.IEX, 'Vendor', 'IEX-1001', 'api_key=', '127.0.0.1'])
    expect(text.includes(hidden) ? hidden : undefined).toBeUndefined();
});

describe('with a rate limit', () => {
  const limited = withService({ env: { RATE_LIMIT_PER_MINUTE: '2' } });
  const reader = makeLogReader(limited);

  test('the refused calls are in the log', async () => {
    const calls = limited.api.withKey(DEMO.apiKeys.IEX);
    for (let n = 0; n < 2; n += 1) await calls.submitPrealert(prealert()).created();
    const refused = await calls.submitPrealert(prealert()).refused(429, 'rate_limited');
    expect(await reader.find('admin', refused)).toMatchObject({
      status: 429,
      code: 'rate_limited',
      credential: 'api_key',
    });
  });
});
