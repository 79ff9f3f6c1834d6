import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { makeTokenCalls } from '../service-tokens/token-calls.js';
import { makeLogReader } from './log-reader.js';

const fixture = withService();
const { api, db } = fixture;
const { list } = makeLogReader(fixture);

const submit = (key: string, TrackingNumber: string, UserCode = 'IEX-1001') =>
  api.withKey(key).submitPrealert(unchecked({ UserCode, TrackingNumber }));

const idsOf = ({ data }: Awaited<ReturnType<typeof list>>) => data.map(({ request_id }) => request_id);

test('pages continue before their last call, newest first, without gaps', async () => {
  const sent: string[] = [];
  for (let n = 0; n < 7; n += 1) {
    const { requestId } = await submit(DEMO.apiKeys.IEX, `PAGE10000${n}`).created();
    sent.unshift(requestId ?? '');
  }
  const read: string[] = [];
  let before: string | null = null;
  do {
    const page = await list('iex', { operation: 'submitPrealert', limit: 3, ...(before ? { before } : {}) });
    read.push(...idsOf(page));
    before = page.meta.next_before;
  } while (before);
  expect(read).toEqual(sent);
});

test('a courier sees its own calls only, also by the request id or the parcel of another', async () => {
  const own = await submit(DEMO.apiKeys.IEX, 'SHARED100001').created();
  const other = await submit(DEMO.apiKeys.HRB, 'SHARED100001', 'HRB-2001').answer();
  const requestId = other.requestId ?? '';
  expect(idsOf(await list('iex', { parcel: 'SHARED100001' }))).toEqual([own.requestId]);
  const asked: Record<string, string>[] = [{}, { courier_id: DEMO.couriers.HRB }];
  for (const courier of asked)
    expect((await list('iex', { request_id: requestId, ...courier })).data).toEqual([]);
  expect(idsOf(await list('hrb', { request_id: requestId }))).toEqual([requestId]);
  expect(idsOf(await list('manager', { parcel: 'SHARED100001' }))).toEqual([requestId, own.requestId]);
  const ofHrb = await list('manager', { courier_id: DEMO.couriers.HRB });
  expect(ofHrb.data.filter(({ courier_id }) => courier_id !== DEMO.couriers.HRB)).toEqual([]);
});

test('another tenant sees nothing of it', async () => {
  const { requestId } = await submit(DEMO.apiKeys.IEX, 'TENANT100001').created();
  await list('iex');
  for (const user of ['two/admin', 'two/two']) {
    const answer = await api
      .as(user)
      .listApiCalls({ request_id: requestId ?? '' })
      .ok();
    expect(answer.data).toEqual([]);
  }
});

test('a member of the courier reads the log, and a worker of the warehouse does not', async () => {
  await db.query('update users set is_courier_owner = false where id = $1', [DEMO.users.iex]);
  await list('iex');
  await db.query('update users set is_courier_owner = true where id = $1', [DEMO.users.iex]);
  await api.as('warehouse').listApiCalls().refused(403, 'permission_denied');
});

test('a service token with webhooks:manage reads the log of its courier, others do not', async () => {
  const tokens = makeTokenCalls(api);
  const { id, secret } = await tokens.create('iex', { scopes: ['webhooks:manage'] });
  await api.withToken(secret).listApiCalls().ok();
  const found = await list('iex', { credential_id: id });
  expect(found.data).toMatchObject([{ operation: 'listApiCalls', credential: 'service_token' }]);
  const other = await tokens.create('iex', { scopes: ['packages:read'] });
  await api.withToken(other.secret).listApiCalls().refused(403, 'scope_missing');
});

test('a period selects by the time of the database, up to its end', async () => {
  const { requestId } = await submit(DEMO.apiKeys.IEX, 'PERIOD100001').created();
  await list('iex');
  const [row] = await db.query<{ at: string; next: string }>(
    `update api_calls set called_at = date_trunc('second', called_at) where request_id = $1
     returning to_char(called_at, 'YYYY-MM-DD HH24:MI:SS') as at, to_char(called_at + interval '1 second', 'YYYY-MM-DD HH24:MI:SS') as next`,
    [requestId],
  );
  const { at = '', next = '' } = row ?? {};
  const found = async (query: Record<string, string>) =>
    idsOf(await list('iex', { parcel: 'PERIOD100001', ...query }));
  expect(await found({ since: at, until: next })).toEqual([requestId]);
  expect(await found({ since: next })).toEqual([]);
  expect(await found({ until: at })).toEqual([]);
  for (const field of ['since', 'until'])
    await api
      .as('iex')
      .listApiCalls(unchecked({ [field]: '2026-02-30 00:00:00' }))
      .refused(400, 'validation_failed', field);
});
