import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newNumber } from '../../support/builders/parcels.js';
import { withService } from '../../support/fixture/with-service.js';

// What an integrator sees of a wrong header or body: the message alone leads to the cure.

const { api, service } = withService();

const KEY = { key: DEMO.apiKeys.IEX };
const line = () => JSON.stringify({ UserCode: 'IEX-1001', TrackingNumber: newNumber() });
const submit = (body: string, contentType: string) =>
  api
    .with({ ...KEY, body, headers: { 'content-type': contentType } })
    .submitPrealert()
    .answer();

test.each([
  ['application/jsonlines', 1],
  ['application/jsonlines', 100_000],
  ['application/x-jsonlines', 5_000_000],
  ['text/plain', 100_000],
  ['application/x-www-form-urlencoded', 100_000],
])('a body of the type %s and %i bytes is 415 and names the types', async (type, bytes) => {
  const reply = await submit(line().padEnd(bytes), type);
  expect([reply.status, reply.message]).toEqual([
    415,
    'The body has the wrong media type or encoding. Send it as application/json or application/x-ndjson, uncompressed and in UTF-8.',
  ]);
});

test('a large body of the right type is 413 and names the type of lines', async () => {
  const reply = await submit(line().padEnd(100_000), 'application/json');
  expect([reply.status, reply.message]).toEqual([
    413,
    'The body is larger than 64 KiB. Send less at once, or one object per line with the media type application/x-ndjson.',
  ]);
});

test('the same body where no lines are taken is 413 without that advice', async () => {
  const body = JSON.stringify({ action: 'login', username: 'x'.repeat(70_000) });
  const reply = await api
    .with({ body, headers: { 'content-type': 'application/json' } })
    .login()
    .answer();
  expect([reply.status, reply.message]).toEqual([413, 'The body is larger than 4 KiB. Send less at once.']);
});

test.each([
  ['in lines', '\n'],
  ['in lines that curl -d has joined', ''],
  ['in lines of Windows', '\r\n'],
])('two objects %s in one JSON body get the advice to send lines', async (_name, between) => {
  const reply = await submit(`${line()}${between}${line()}`, 'application/json');
  expect([reply.status, reply.code, reply.message]).toEqual([
    400,
    'malformed_json',
    'The body has several JSON objects. Send one, or send pre-alerts as lines with the media type application/x-ndjson. With curl use --data-binary: -d removes the line ends of a file.',
  ]);
});

test.each(['{"UserCode":', '{"a":1},', "{'a':1}", '{"a":1}x'])(
  'the malformed body %s does not get it',
  async (body) => {
    const reply = await submit(body, 'application/json');
    expect([reply.status, reply.code]).toEqual([400, 'malformed_json']);
    expect(reply.message).not.toContain('several');
  },
);

const NO_SCHEME =
  'The header Authorization has another form than "Bearer <token>". Begin it with "Bearer ", then the token without quotation marks. You need not log in again.';

test.each<[name: string, header: (token: string) => string]>([
  ['the token alone', (token) => token],
  ['another scheme', (token) => `Token ${token}`],
  ['a colon', (token) => `Bearer: ${token}`],
  ['quotation marks', (token) => `Bearer "${token}"`],
  ['the scheme twice', (token) => `Bearer Bearer ${token}`],
  ['no blank', (token) => `Bearer${token}`],
  ['basic authentication', () => 'Basic aWV4OmNyb3NzZG9jay1kZW1v'],
])('an Authorization header with %s is token_missing and says what to change', async (_name, header) => {
  const token = await service().tokenOf('iex');
  const reply = await api
    .with({ headers: { authorization: header(token) } })
    .listPrealerts()
    .refused(401, 'token_missing');
  expect(reply.message).toBe(NO_SCHEME);
});

test('without the header the message says how to send the token', async () => {
  expect((await api.anonymous.listPrealerts().refused(401, 'token_missing')).message).toBe(
    'The request has no access token. Send it as "Authorization: Bearer <token>".',
  );
});
