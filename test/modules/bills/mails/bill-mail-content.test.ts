import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { makeBilling } from '../../../support/builders/billing.js';
import { until } from '../../../support/service/processes.js';
import { withOutbox } from '../../../support/fixture/with-outbox.js';
import { pagesOf } from '../../../support/readers/pdf.js';
import { makeMailCalls } from './mail-calls.js';

const fixture = withOutbox({});
const { service, outbox } = fixture;
const { send, listed, newRecipient, published } = makeMailCalls(fixture);

const newAddress = () => `${randomUUID()}@quay.example`;

const isSettled = (billId: string) => until(async () => (await listed(billId))[0]?.status !== 'queued');

test('sends the bill as a PDF, as the courier sees it, and records that it was sent', async () => {
  const address = newAddress();
  const courierId = await newRecipient(address);
  const billing = makeBilling(service());
  const [unknown] = await billing.addPackages(courierId, [{ weight: '5', userCode: null }]);
  await service().owner.query("update packages set tracking_number = 'SECRET987654' where id = $1", [
    unknown,
  ]);
  const billId = await published(courierId);
  await send(billId).ok();
  const [mail] = await outbox.untilSent(address, 1);
  await isSettled(billId);
  const [entry] = await listed(billId);
  expect(entry).toMatchObject({ status: 'sent', recipient: address, error: null });
  expect(entry?.settled_at).toMatch(/^\d{4}-/);

  const { body } = await billing.read(billId);
  const { invoice_number: number, due_date: due, lines } = body['data'];
  expect(mail?.subject).toBe(`Bill ${number} (Miami Gateway Logistics)`);
  const texts = [mail?.text ?? '', mail?.html ?? ''];
  for (const fact of [number, due, '24.00 USD', '2024-05-01', 'Your bill is attached as a PDF.'])
    expect(texts.filter((text) => text.includes(fact))).toHaveLength(2);
  const [pdf, ...others] = mail?.attachments ?? [];
  expect(others).toEqual([]);
  expect(pdf).toMatchObject({ name: `${number}.pdf`, mediaType: 'application/pdf' });
  const printed = (await pagesOf(pdf?.bytes ?? Buffer.alloc(0))).join('').replace(/\s/g, '');
  expect(lines.map(({ tracking_number: each }: { tracking_number: string }) => each)).toContain(
    'SECRET987654',
  );
  expect(printed).not.toContain('SECRET987654');
  expect(printed).toContain('********7654');
});

test('writes to a courier in Spanish', async () => {
  const address = newAddress();
  const billId = await published(await newRecipient(address));
  await send(billId, { language: 'es' }).ok();
  const [mail] = await outbox.untilSent(address, 1);
  expect(mail?.subject).toMatch(/^Factura INV-\d+ \(Miami Gateway Logistics\)$/);
  expect(mail?.text).toContain('Adjuntamos su factura en PDF.');
  expect(mail?.html).toContain('<html lang="es">');
});

test('sends a bill that has too many lines for a PDF without it, and says so', async () => {
  const address = newAddress();
  const courierId = await newRecipient(address);
  const billing = makeBilling(service());
  const { body } = await billing.draft(courierId);
  expect(body['code']).toBe('nothing_to_bill');
  await billing.addPackages(
    courierId,
    Array.from({ length: 10_000 }, () => ({ weight: '5' })),
  );
  const billId = await published(courierId);
  await send(billId).ok();
  const [mail] = await outbox.untilSent(address, 1);
  expect(mail?.attachments).toEqual([]);
  expect(mail?.text).toContain('Your bill has too many lines for a PDF.');
});
