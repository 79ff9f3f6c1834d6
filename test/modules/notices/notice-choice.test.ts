import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/demo.js';
import type { Mailer } from '../../../src/platform/mail/send-result.js';
import { withNotices } from '../../support/fixture/with-notices.js';
import { linkOf, makeNoticeCalls, newAddress } from './notice-calls.js';

const fixture = withNotices();
const { db, outbox, pass, service, tell, tellNow, work } = fixture;
const { log, newCustomer, page, receive, settings, statesOf } = makeNoticeCalls(fixture);

beforeAll(async () => {
  for (const as of ['iex', 'hrb']) await settings({ is_enabled: true, states: ['received'] }, as).ok();
});

/** A customer who has had a mail, and the key of its link. */
async function told(email?: string) {
  const customer = await newCustomer(email);
  await receive(customer);
  await tellNow();
  return { customer, key: linkOf((await outbox.to(customer.email))[0]).key };
}

const stop = (key: string) => page('POST', key, { urlencoded: { choice: 'stop' } });
const resume = (key: string) => page('POST', key, { urlencoded: { choice: 'resume' } });
const textOf = ({ bytes }: { bytes: Buffer }) => bytes.toString();

describe('the page of the link', () => {
  test('shows the courier and a part of the address, and changes nothing however often it is opened', async () => {
    const { customer, key } = await told();
    for (let n = 0; n < 3; n += 1) expect((await page('GET', key)).status).toBe(200);
    const shown = await page('GET', key);
    expect(textOf(shown)).toContain('Island Express');
    expect(textOf(shown)).toContain(`${customer.email[0]}***@quay.example`);
    expect(textOf(shown)).not.toContain(customer.email);
    expect(textOf(shown)).not.toContain('<script');
    expect(Object.fromEntries(shown.headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex, nofollow',
      'content-language': 'en',
    });
    expect(shown.headers.get('set-cookie')).toBeNull();
    expect(await db.count('notice_choices', {})).toBe(0);
    await receive(customer);
    await tellNow();
    expect(await outbox.to(customer.email)).toHaveLength(2);
  });

  test('is in Spanish for those who want that', async () => {
    const { key } = await told();
    const named = await page('GET', key, { query: { lang: 'es' } });
    const asked = await page('GET', key, {
      headers: { accept: 'text/html', 'accept-language': 'es-CR,es;q=0.9,en;q=0.5' },
    });
    expect(textOf(named)).toContain('No enviar más correos');
    expect(textOf(asked)).toBe(textOf(named));
  });

  test('ends the mails at once, also those that are held or queued, and says so', async () => {
    const { customer, key } = await told();
    await receive(customer);
    await tell();
    await pass();
    await tell();
    await receive(customer);
    await tell();
    const shown = await stop(key);
    expect(shown.status).toBe(200);
    expect(textOf(shown)).toContain('Island Express sends no mails');
    expect(textOf(shown)).toContain('Send mails again');
    await work();
    await tellNow();
    await receive(customer);
    await tellNow();
    expect(await outbox.to(customer.email)).toHaveLength(1);
    expect(await statesOf(customer)).toEqual([
      'received opted_out',
      'received opted_out',
      'received opted_out',
      'received sent',
    ]);
  });

  test('ends mails that wait after a failure', async () => {
    const { customer, key } = await told();
    await receive(customer);
    await tell();
    await pass();
    await tell();
    const failing: Mailer = {
      send: async () => ({ outcome: 'failed', reason: 'busy' }),
      close: () => undefined,
    };
    await work(failing);
    expect((await log({ user_code: customer.userCode }))[0]).toMatchObject({
      status: 'queued',
      reason: 'busy',
    });
    await stop(key);
    await service().owner.query('update graphile_worker._private_jobs set run_at = now()');
    await work();
    expect(await outbox.to(customer.email)).toHaveLength(1);
    expect((await statesOf(customer))[0]).toBe('received opted_out');
  });

  test('begins the mails again', async () => {
    const { customer, key } = await told();
    await stop(key);
    const shown = await resume(key);
    expect(textOf(shown)).toContain('Island Express sends mails');
    await receive(customer);
    await tellNow();
    expect(await outbox.to(customer.email)).toHaveLength(2);
  });
});

describe('a mail program that knows RFC 8058', () => {
  test('ends the mails with one request to the URL of the header', async () => {
    const { customer, key } = await told();
    const urlencoded = { 'List-Unsubscribe': 'One-Click' };
    const { status } = await service().request('POST', `/notices/${key}`, { urlencoded });
    expect(status).toBe(200);
    await receive(customer);
    await tellNow();
    expect(await outbox.to(customer.email)).toHaveLength(1);
  });
});

describe('a choice', () => {
  test('is one of the address, in any case of its letters and for all its customers', async () => {
    const email = newAddress();
    const { key } = await told(email);
    await stop(key);
    const other = await newCustomer(email.toUpperCase());
    await receive(other);
    await tellNow();
    expect(await statesOf(other)).toEqual(['received opted_out']);
  });

  test('is one of the courier', async () => {
    const email = newAddress();
    const { key } = await told(email);
    await stop(key);
    const other = await newCustomer(email, 'HRB');
    await receive(other, 'HRB');
    await tellNow();
    const [, mail] = await outbox.to(email);
    expect(mail?.subject).toMatch(/^Your parcel is at the warehouse \(Harbou?r/);
  });

  test('stays when its customer is deleted, and is stored without the address', async () => {
    const email = newAddress();
    const { customer, key } = await told(email);
    await stop(key);
    await service().owner.query('delete from customers where id = $1', [customer.id]);
    expect(await db.count('notice_mails', { recipient: email })).toBe(0);
    const [choice] = await db.all('notice_choices', { courier_id: DEMO.couriers.IEX, is_opted_out: true });
    expect(choice?.address_key).toMatch(/^[0-9a-f]{64}$/);
    const again = await newCustomer(email);
    await receive(again);
    await tellNow();
    expect(await statesOf(again)).toEqual(['received opted_out']);
  });

  test('that is made again writes nothing, and each change is audited without the whole address', async () => {
    const { customer, key } = await told();
    const audited = async () =>
      (
        await service().owner.query<{ after: object }>(
          "select after from audit_entries where action = 'courier.notice_choice_changed' and after ->> 'recipient' = $1 order by id",
          [`${customer.email[0]}***@quay.example`],
        )
      ).rows.map(({ after }) => after);
    const before = (await audited()).length;
    await Promise.all(Array.from({ length: 20 }, () => stop(key)));
    await resume(key);
    await resume(key);
    expect((await audited()).slice(before)).toEqual([
      { recipient: `${customer.email[0]}***@quay.example`, is_opted_out: true },
      { recipient: `${customer.email[0]}***@quay.example`, is_opted_out: false },
    ]);
  });
});

describe('a key', () => {
  test('that is wrong, of another instance or of an inactive courier has the same 404', async () => {
    const { key } = await told();
    const wrong = await page('GET', 'f'.repeat(32));
    const elsewhere = await page('GET', key, { host: DEMO.hosts.two });
    const malformed = await page('GET', 'x');
    const setActive = (isActive: boolean) =>
      service().owner.query('update couriers set is_active = $2 where id = $1', [
        DEMO.couriers.IEX,
        isActive,
      ]);
    await setActive(false);
    const inactive = await page('GET', key);
    const refused = await stop(key);
    await setActive(true);
    expect([wrong, elsewhere, malformed, inactive, refused].map(({ status }) => status)).toEqual([
      404, 404, 404, 404, 404,
    ]);
    for (const other of [elsewhere, malformed, inactive]) expect(textOf(other)).toBe(textOf(wrong));
    expect((await page('GET', key)).status).toBe(200);
  });

  test('returns JSON to programs', async () => {
    const { status, body } = await service().request('GET', `/notices/${'0'.repeat(32)}`);
    expect({ status, code: body['code'] }).toEqual({ status: 404, code: 'notice_link_not_found' });
  });

  test('is stored as a hash only', async () => {
    const { customer, key } = await told();
    const [mail] = await db.all('notice_mails', { customer_id: customer.id });
    expect(mail?.key_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(mail)).not.toContain(key.slice(0, 16));
  });
});

describe('a body', () => {
  test('without a choice is refused, and so is a choice that is none', async () => {
    const { key } = await told();
    for (const urlencoded of [{ other: 'x' }, { choice: 'maybe' }, { 'List-Unsubscribe': 'Two-Clicks' }])
      expect((await page('POST', key, { urlencoded })).status).toBe(400);
    expect((await page('POST', key, { urlencoded: { choice: '' } })).status).toBe(400);
  });

  test.each(['application/json', 'multipart/form-data; boundary=x', 'text/plain'])(
    'of the type %s is refused',
    async (type) => {
      const { status } = await service().request('POST', `/notices/${'0'.repeat(32)}`, {
        headers: { 'content-type': type },
        body: '{}',
      });
      expect(status).toBe(415);
    },
  );

  test('above 2 KiB is refused', async () => {
    const urlencoded = { choice: 'stop', more: 'x'.repeat(2_100) };
    const { status } = await service().request('POST', `/notices/${'0'.repeat(32)}`, { urlencoded });
    expect(status).toBe(413);
  });
});
