import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { talk } from '../../support/service/wire.js';
import { withNotices } from '../../support/fixture/with-notices.js';
import { linkOf, makeNoticeCalls } from './notice-calls.js';

const fixture = withNotices({ env: { TRUST_PROXY: '127.0.0.1' } });
const { outbox, service, tellNow } = fixture;
const { newCustomer, page, receive, settings } = makeNoticeCalls(fixture);

let key: string;

beforeAll(async () => {
  await settings({ is_enabled: true, states: ['received'] }).ok();
  const customer = await newCustomer();
  await receive(customer);
  await tellNow();
  ({ key } = linkOf((await outbox.to(customer.email))[0]));
});

const newKey = () => randomBytes(16).toString('hex');
const from = (address: string, call: object = {}) => ({
  headers: { accept: 'text/html', 'x-forwarded-for': address },
  ...call,
});
const choose = (choice: string, address: string) =>
  page('POST', key, from(address, { urlencoded: { choice } }));

const countOf = (statuses: number[], status: number) => statuses.filter((each) => each === status).length;

test('mails begin again five times a day with a link, and can be ended at any time', async () => {
  const statuses: number[] = [];
  for (let n = 0; n < 8; n += 1) {
    expect((await choose('stop', `198.51.100.${n}`)).status).toBe(200);
    statuses.push((await choose('resume', `198.51.100.${n}`)).status);
  }
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
  const { rows } = await service().owner.query('select is_opted_out from notice_choices');
  expect(rows).toEqual([{ is_opted_out: true }]);
  const { rowCount } = await service().owner.query(
    "select from audit_entries where action = 'courier.notice_choice_changed'",
  );
  expect(rowCount).toBe(11);
});

test('an address opens 240 pages in a minute, and others are not counted with it', async () => {
  const statuses = await Promise.all(
    Array.from({ length: 300 }, async () => (await page('GET', newKey(), from('2001:db8::1'))).status),
  );
  expect([countOf(statuses, 404), countOf(statuses, 429)]).toEqual([240, 60]);
  const refused = await page('GET', key, from('2001:db8::2'));
  expect(refused.status).toBe(429);
  expect(refused.bytes.toString()).toContain('Too many attempts');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await page('GET', key, from('198.51.100.1'))).status).toBe(200);
  // A flood of pages keeps nobody from ending mails.
  expect((await choose('stop', '2001:db8::3')).status).toBe(200);
}, 60_000);

test('all addresses together open 1,200 pages in a minute', async () => {
  const statuses = await Promise.all(
    Array.from({ length: 1_300 }, async (_, n) => {
      const { status } = await page('GET', newKey(), from(`203.0.${n >> 8}.${n & 255}`));
      return status;
    }),
  );
  expect(countOf(statuses, 429)).toBeGreaterThanOrEqual(100);
  expect(countOf(statuses, 404)).toBeLessThanOrEqual(1_200);
  expect((await choose('stop', '203.0.113.1')).status).toBe(200);
}, 60_000);

test('an address sends 300 choices in a minute, and all together 600', async () => {
  const send = (address: string) => page('POST', newKey(), from(address, { urlencoded: { choice: 'stop' } }));
  const statuses = await Promise.all(
    Array.from({ length: 320 }, async () => (await send('192.0.2.1')).status),
  );
  expect([countOf(statuses, 404), countOf(statuses, 429)]).toEqual([300, 20]);
  const more = await Promise.all(
    Array.from({ length: 320 }, async (_, n) => (await send(`100.64.${n >> 8}.${n & 255}`)).status),
  );
  expect(countOf(more, 429)).toBeGreaterThanOrEqual(20);
  expect(countOf(more, 404)).toBeLessThanOrEqual(300);
}, 60_000);

test.each([
  ['application/x-www-form-urlencoded', 413],
  ['multipart/form-data; boundary=x', 415],
  ['application/json', 415],
])('a large body of the type %s is refused with %i before it is read', async (type, status) => {
  const head = [
    `POST /notices/${newKey()} HTTP/1.1`,
    'Host: localhost',
    `Content-Type: ${type}`,
    'Content-Length: 1000000000',
  ];
  // Nothing of the body is sent.
  const [reply] = await talk(service().url, `${head.join('\r\n')}\r\n\r\n`);
  expect(reply?.status).toBe(status);
});
