import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { pagesOf, pixelsOf, popplerText } from '../../../support/readers/pdf.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makeDownloads, usd, groupBy, HEADINGS, UNKNOWN_ID, withoutSpaces } from './bill-downloads.js';

const fixture = withService();
const { service } = fixture;
const { pdfOf, linesOf, insertBill, packageLines, download, pay, textOf, cellsOf } = makeDownloads(fixture);

describe('PDF download', () => {
  test('contains every line and every total, according to two text extractors', async () => {
    const billId = DEMO.bills.published;
    const bytes = await pdfOf('iex', billId);
    const lines = await linesOf(billId);
    expect(lines.length).toBeGreaterThan(20);
    const { rows } = await service().owner.query<Record<string, string>>(
      'select *, total_amount - paid_amount as due from bills where id = $1',
      [billId],
    );
    const [bill = {}] = rows;
    const readings = [(await pagesOf(bytes)).join('\n'), popplerText(bytes)].filter(
      (text) => text !== undefined,
    );
    expect(readings.length).toBeGreaterThan(0);
    for (const text of readings) {
      for (const line of lines) {
        // Weights have as many decimals as the longest weight, so they are compared as numbers.
        const [before, after] = [
          `${line['position']} ${line['day']} ${line['house_number']} ${line['tracking_number']} ${line['user_code'] ?? 'unknown'} `,
          ` ${line['tier']} ${line['amount_usd']}\n`,
        ];
        const found = text.slice(text.indexOf(before) + before.length);
        expect([line['position'], text.includes(before), Number.parseFloat(found)]).toEqual([
          line['position'],
          true,
          line['weight'],
        ]);
        expect(found.slice(found.indexOf(' '))).toMatch(new RegExp(`^${after}`));
      }
      const shown = (name: string) => usd(bill[name]);
      for (const words of [
        `Invoice\n`,
        bill['invoice_number'],
        `Sum of ${lines.length} lines ${shown('subtotal')}`,
        `Subtotal ${shown('subtotal')}`,
        `Tax (7%) ${shown('tax_amount')}`,
        `Total (USD) ${shown('total_amount')}`,
        `Bank transfer TRF-2 ${shown('paid_amount')}`,
        `Paid ${shown('paid_amount')}`,
        `Balance due (USD) ${shown('due')}`,
        `Period ${bill['start_date']} to ${bill['end_date']}`,
        'Island Express (IEX)',
        'Miami Gateway',
        'Air standard',
      ])
        expect(text).toContain(words);
      for (const [tier, own] of groupBy(lines, 'tier')) {
        const fee = Number(own[0]?.['amount_usd']);
        const charge = `Packages, ${tier} ${own.length} ${usd(fee)} ${usd(fee * own.length)}`;
        expect(text.split('\n')).toContain(charge);
      }
    }
  });

  test('is an attachment named after the invoice number and is byte-identical until a payment is recorded', async () => {
    const billId = await insertBill({ lines: await packageLines(2) });
    const first = await download('admin', billId).answer();
    expect(first.headers.get('content-disposition')).toBe(
      `attachment; filename="INV-T-${billId.slice(-8)}.pdf"`,
    );
    expect(first.headers.get('content-length')).toBe(String(first.bytes.length));
    // The PDF's creation date is the publication time.
    expect(first.bytes.toString('latin1')).toContain('(D:20261102102030Z)');
    expect((await download('iex', billId, 'pdf').answer()).bytes.equals(first.bytes)).toBe(true);
    await pay(billId, '5.00');
    const paid = await download('admin', billId).answer();
    expect(paid.bytes.equals(first.bytes)).toBe(false);
  });

  test('repeats the headings and numbers the pages of a bill with 300 lines', async () => {
    const lines = Array.from({ length: 300 }, (_, index) => ({
      description: `Item ${index + 1}.`,
      amount_usd: '1000.10',
    }));
    const pages = await pagesOf(await pdfOf('manager', await insertBill({ lines })));
    expect(pages.length).toBeGreaterThan(5);
    pages.forEach((text, index) => {
      expect(text).toContain(HEADINGS);
      expect(text).toContain(`Page ${index + 1} of ${pages.length}`);
    });
    const all = pages.join('\n');
    const found = [...all.matchAll(/^(\d+) Item (\d+)\. 1,000\.10$/gm)].map(([, position]) =>
      Number(position),
    );
    expect(found).toEqual(lines.map((_, index) => index + 1));
    expect(all).toContain('Sum of 300 lines 300,030.00');
    expect(all).toContain('Balance due (USD) 300,030.00');
  });

  test('shows air freight, adjustments, packages outside all tiers and voided payments', async () => {
    const [parcel = {}] = await packageLines(1);
    const billId = await insertBill({
      lines: [
        { ...parcel, weight_lb: '250.125', tier: null, amount_usd: '0.00' },
        { kind: 'air_freight', weight_lb: '250.125', rate_usd: '1.75', amount_usd: '437.72' },
        { description: 'Credit for a wet box', amount_usd: '-15.00' },
      ],
      columns: { remarks: 'Pay within 14 days.\nThank you.', paid_amount: '22.72' },
    });
    await pay(billId, '22.72');
    await pay(billId, '999.99', '2026-11-06T00:00:00Z');
    const text = await textOf('iex', billId);
    for (const line of [
      '1 2026-10-05 H0 TRACK1000 IEX-1001 250.125 none 0.00',
      '2 Air freight 250.125 1.75 per lb 437.72',
      '3 Credit for a wet box -15.00',
      'Packages outside all tiers 1 0.00 0.00',
      'Air freight, 250.125 lb 437.72',
      'Adjustments 1 -15.00',
      '2026-11-05 Cheque CHQ-77 22.72',
      'CHQ-77. Voided on 2026-11-06 999.99',
      'Paid 22.72',
      'Balance due (USD) 400.00',
      'Pay within 14 days.\nThank you.',
    ])
      expect(text).toContain(`${line}\n`);
  });

  test('renders a bill without lines, payments or addresses', async () => {
    const party = { name: 'Bare', address: [], phone: null, email: null };
    const text = await textOf('admin', await insertBill({ columns: { bill_from: party, bill_to: party } }));
    expect(text).toContain('Balance due (USD) 0.00');
    expect(text).not.toContain('Payments');
    expect(text).toContain('Page 1 of 1');
  });
});

describe('draft download', () => {
  test('responds to couriers as if the draft did not exist', async () => {
    for (const format of ['pdf', 'csv'] as const) {
      const replies = await Promise.all(
        [DEMO.bills.draft, UNKNOWN_ID].map((id) => download('iex', id, format).answer()),
      );
      const [draft, unknown] = replies.map(({ status, body }) => ({
        ...body,
        status,
        request_id: '',
        timestamp: 0,
      }));
      expect(draft).toMatchObject({ status: 404, code: 'bill_not_found' });
      expect(draft).toEqual(unknown);
    }
  });

  test('marks every page as a draft for staff and shows no invoice number', async () => {
    const lines = Array.from({ length: 80 }, () => ({ amount_usd: '1.00' }));
    const billId = await insertBill({ status: 'draft', lines });
    const reply = await download('manager', billId).answer();
    const name = `DRAFT-${billId.slice(-8)}`;
    expect(reply.headers.get('content-disposition')).toBe(`attachment; filename="${name}.pdf"`);
    const pages = await pagesOf(reply.bytes);
    expect(pages.length).toBeGreaterThan(1);
    for (const text of pages) {
      // The watermark is diagonal, so its letters may be extracted one by one.
      expect(withoutSpaces(text)).toContain('DRAFT');
      expect(text).toContain('Draft invoice');
      expect(text).not.toContain(name);
    }
    expect(pages[0]).toContain('Not issued');
    const grey = (bytes: Buffer) => pixelsOf(bytes, [0xe9, 0xec, 0xf0]);
    const published = await pdfOf('manager', await insertBill({ lines }));
    expect((await grey(reply.bytes)) - (await grey(published))).toBeGreaterThan(10_000);
    const [, line] = await cellsOf('manager', billId);
    expect(line?.[0]).toBe('DRAFT');
  });
});

describe('due date', () => {
  test('is printed as stored, and not at all on a bill that was published without one', async () => {
    const lines = [{ amount_usd: '1.00' }];
    const due = await insertBill({ lines, columns: { due_date: '2027-01-15' } });
    expect(await textOf('iex', due)).toContain('Due 2027-01-15');
    const older = await textOf('iex', await insertBill({ lines }));
    expect(older).toContain('Issued');
    expect(older).not.toContain('Due ');
    const draft = await insertBill({ status: 'draft', lines, columns: { due_date: '2027-01-15' } });
    expect(await textOf('manager', draft)).toContain('Due Not issued');
  });
});

describe('package of an unknown customer', () => {
  test('masks the tracking number for couriers and shows it in full to staff', async () => {
    const [parcel = {}] = await packageLines(1);
    const billId = await insertBill({
      lines: [{ ...parcel, tracking_number: 'SECRET987654', user_code: null }],
    });
    for (const as of ['iex', 'manager']) {
      const shown = as === 'iex' ? '********7654' : 'SECRET987654';
      const text = await textOf(as, billId);
      expect(text).toContain(`H0 ${shown} unknown 2.5`);
      expect((await cellsOf(as, billId))[1]?.[5]).toBe(shown);
      if (as === 'iex') expect(text).not.toContain('SECRET');
    }
  });
});
