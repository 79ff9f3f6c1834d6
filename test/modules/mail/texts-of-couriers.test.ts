import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import type { SentMail } from '../../support/builders/outbox.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withOutbox } from '../../support/fixture/with-outbox.js';
import { makeManifest, move } from '../../support/receivers/mails.js';
import { makeMailCalls } from '../bills/mails/mail-calls.js';

// A courier chooses the address of its mails, and nobody confirms it. So the mails contain no text of the courier.

const fixture = withOutbox({});
const { api, service, outbox } = fixture;

const TEXT = 'Parcel held: pay at https://evil.example/pay or call +1 876 555 0100';
const PARTS = ['held: pay', 'pay at', '://', 'evil.example', '876 555', '876-555', '0100'];

/** Sets the texts that a courier may write in its profile, and the address of a stranger. */
const addressStranger = (email: string) =>
  api
    .as('iex')
    .updateCourierSettings(unchecked({ courier_name: TEXT, company_name: TEXT, address1: TEXT, email }))
    .ok();

const partsIn = ({ subject, text, html, to }: SentMail) =>
  PARTS.filter((part) => [subject, text, html, to].some((each) => each.includes(part)));

test('a courier that names a stranger and writes texts and links everywhere sends none of them with a manifest', async () => {
  const email = 'stranger@quay.example';
  await addressStranger(email);
  const codes = [TEXT, 'evil.example/pay', '+1 (876) 555-0100'];
  const ids = [];
  for (const [n, user_code] of codes.entries()) {
    await api.as('iex').createCustomer({ user_code, first_name: TEXT, last_name: TEXT }).ok();
    const body = { tracking_number: `TEXT${n}N`, user_code, courier_id: DEMO.couriers.IEX, weight: 1 };
    const { data } = await api.as('warehouse').receivePackage(unchecked(body)).created();
    ids.push(data.package_id);
  }
  await move(service(), await makeManifest(service(), ids), 'ready');
  const [mail] = await outbox.untilSent(email, 1);
  if (!mail) throw new Error('No mail was sent.');
  expect(partsIn(mail)).toEqual([]);
  expect(mail.to).toBe(`IEX <${email}>`);
  for (const text of [mail.text, mail.html]) {
    expect(text).toContain('IEX,');
    // The number and the code remain readable.
    expect(text).toContain('TEXT0N');
    expect(text).toContain('Parcel held:…');
    expect(text).toContain('evil. example/pay');
  }
});

test.each(['en', 'es'])('and none with a bill in the language %s', async (language) => {
  const email = `bill-${language}@quay.example`;
  const { newRecipient, published, send } = makeMailCalls(fixture);
  const courierId = await newRecipient(email);
  await service().owner.query('update couriers set name = $2, company_name = $2 where id = $1', [
    courierId,
    TEXT,
  ]);
  await send(await published(courierId), { language }).ok();
  const [mail] = await outbox.untilSent(email, 1);
  if (!mail) throw new Error('No mail was sent.');
  expect(partsIn(mail)).toEqual([]);
  expect(mail.to).toContain(courierId.slice(0, 8));
});
