import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { startService, type Service } from '../../support/service/service.js';
import { talk } from '../../support/service/wire.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test.each([
  ['JSON', 'ManagePrealerts.php', 'application/json'],
  ['a form', 'CourierSettingsAPI.php', 'multipart/form-data; boundary=x'],
])(
  '%s with a Content-Length of 100 MiB gets 413 before the credential is checked and the body is sent',
  async (_what, path, type) => {
    const [reply] = await talk(
      service.url,
      `POST /api/${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: ${type}\r\n` +
        `Content-Length: ${100 * 1024 * 1024}\r\n\r\n`,
    );
    expect(reply?.status).toBe(413);
    expect(JSON.parse(reply?.text ?? '')).toMatchObject({ status: 'fail', code: 'body_too_large' });
  },
);

const SPELLINGS = [
  'application/json',
  'Application/JSON',
  'application/json; charset=UTF-8',
  'application/json\t',
];

test.each(SPELLINGS)('%j is parsed as JSON by an operation that also accepts forms', async (type) => {
  const keyOf = async () => {
    const { rows } = await service.owner.query(
      'select api_key_hash, house_color from couriers where id = $1',
      [DEMO.couriers.IEX],
    );
    return rows[0];
  };
  const before = await keyOf();
  const color = `#00000${SPELLINGS.indexOf(type)}`;
  // A form without an action is rejected.
  const body = JSON.stringify({ house_color: color });
  const call = { as: 'iex', headers: { 'content-type': type }, body };
  expect((await service.call('updateCourierSettings', call)).status).toBe(200);
  expect(await keyOf()).toEqual({ ...before, house_color: color });
});

test('a repeated request may spell its Content-Type differently', async () => {
  const send = (type: string) =>
    service.call('createManifest', {
      as: 'admin',
      headers: { 'idempotency-key': 'one-spelling', 'content-type': type },
      body: '{"remarks":"once"}',
    });
  expect((await send('application/json')).status).toBe(200);
  for (const type of SPELLINGS) expect((await send(type)).headers.get('idempotency-replayed')).toBe('true');
});
