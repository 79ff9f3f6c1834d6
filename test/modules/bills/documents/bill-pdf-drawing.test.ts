import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import type { Invoice } from '../../../../src/modules/bills/documents/pdf/invoice.js';
import { makeInvoiceWriter } from '../../../../src/modules/bills/documents/pdf/writer.js';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { pagesOf, pixelsOf, popplerText } from '../../../support/readers/pdf.js';
import { greyJpeg, png, PNG_SIGNATURE, pngChunk, pngHeader } from '../../../support/readers/pictures.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makeDownloads, HEADINGS, withoutSpaces, UNKNOWN_ID } from './bill-downloads.js';

const { IEX } = DEMO.couriers;

const fixture = withService();
const { service } = fixture;
const { insertBill, pdfOf, packageLines } = makeDownloads(fixture);

describe('texts in the PDF', () => {
  test('prints Latin, Greek and Cyrillic, and replaces unsupported and invisible characters with their code points', async () => {
    const party = (name: string) => ({ name, address: [], phone: null, email: null });
    const billId = await insertBill({
      lines: [{ description: 'Hidden\u202e\u200b bell\u0007 break\r\nend' }],
      columns: {
        bill_from: party('José Zoë Ñandú Łódź'),
        bill_to: party('Ελληνικά Кириллица 📦 中'),
      },
    });
    const bytes = await pdfOf('admin', billId);
    for (const text of [(await pagesOf(bytes)).join('\n'), popplerText(bytes)]) {
      if (text === undefined) continue;
      expect(text).toContain('José Zoë Ñandú Łódź');
      expect(text).toContain('Ελληνικά Кириллица [U+1F4E6]');
      expect(text).toContain('[U+4E2D]');
      expect(text).toContain('Hidden[U+202E][U+200B] bell[U+0007] break end');
    }
  });

  test('codes and numbers that the font does not have take a few lines each', async () => {
    const parcels = await packageLines(20);
    const hostile = { user_code: '中'.repeat(100), tracking_number: '字'.repeat(255) };
    const billId = await insertBill({ lines: parcels.map((parcel) => ({ ...parcel, ...hostile })) });
    // Uncut, each took more than a page.
    expect((await pagesOf(await pdfOf('admin', billId))).length).toBeLessThan(10);
  });

  test('prints texts of maximum length, of codes three lines, and repeats the headings on each page', async () => {
    const [parcel = {}] = await packageLines(1);
    const [word, words] = ['Q'.repeat(100), Array.from({ length: 700 }, (_, n) => `w${n}`).join(' ')];
    const number = Array.from({ length: 51 }, (_, n) => `T${1000 + n}`).join('');
    expect(number).toHaveLength(255);
    const long = { tracking_number: number, user_code: word, tier: '1234567.123-99999999.999 lb' };
    const billId = await insertBill({
      lines: [
        { ...parcel, ...long, weight_lb: '99999999999.999', amount_usd: '9999999999.99' },
        { description: words, amount_usd: '-9999999999.99' },
      ],
      columns: { service_type: words.slice(0, 500), subtotal: '0', total_amount: '0' },
    });
    const pages = await pagesOf(await pdfOf('admin', billId));
    expect(pages.length).toBeGreaterThan(1);
    for (const text of pages.slice(1)) expect(text).toContain(HEADINGS);
    const all = withoutSpaces(pages.join(''));
    for (const text of ['9,999,999,999.99', '-9,999,999,999.99', '99999999999.999', words.slice(0, 500)])
      expect(all).toContain(withoutSpaces(text));
    // The number wraps within its column, so it is checked in parts.
    for (const part of number.match(/T\d{4}/g) ?? []) expect(all).toContain(part.slice(1));
    for (const each of words.split(' ')) expect(all).toContain(each);
    expect(all.match(/Q/g)?.length).toBeLessThan(40);
    expect(all).toContain('Q…');
  });
});

describe('logo in the PDF', () => {
  const RED = [220, 20, 60] as const;
  const svg = (width: number, height: number) =>
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}"><rect width="${width}" height="${height}" fill="rgb(${RED.join()})"/></svg>`;

  async function withLogo(mediaType: string, content: Buffer | string): Promise<Buffer> {
    const bytes = Buffer.from(content);
    await service().owner.query(
      `update courier_logos set media_type = $2, content = $3, content_hash = $4, raster = null, raster_failed_at = null
       where courier_id = $1`,
      [IEX, mediaType, bytes, createHash('sha256').update(bytes).digest('hex')],
    );
    return pdfOf('iex', DEMO.bills.published);
  }

  // A palette image with one bit per pixel and a transparent second colour: the left half is red.
  const HALF = Buffer.concat([
    PNG_SIGNATURE,
    pngChunk('IHDR', Buffer.from([0, 0, 0, 8, 0, 0, 0, 8, 1, 3, 0, 0, 0])),
    pngChunk('PLTE', Buffer.from([...RED, 0, 255, 0])),
    pngChunk('tRNS', Buffer.from([255, 0])),
    pngChunk('IDAT', deflateSync(Buffer.from(Array<number[]>(8).fill([0, 0x0f]).flat()))),
    pngChunk('IEND'),
  ]);
  const pngOf = (width: number, height: number, data: Buffer) =>
    Buffer.concat([PNG_SIGNATURE, pngHeader(width, height), pngChunk('IDAT', data), pngChunk('IEND')]);

  test.each([
    ['a square SVG', 'image/svg+xml', svg(10, 10), RED, [2_500, 3_500]],
    ['a wide SVG', 'image/svg+xml', svg(1_000, 20), RED, [250, 700]],
    ['a tall SVG', 'image/svg+xml', svg(10, 500), RED, [20, 200]],
    ['a PNG', 'image/png', png(30, 10, [], [...RED]), RED, [6_000, 8_500]],
    ['a PNG with a transparent colour', 'image/png', HALF, RED, [1_200, 1_600]],
    ['a JPG', 'image/jpeg', greyJpeg(), [64, 64, 64], [2_500, 3_500]],
  ] as const)('draws %s inside the logo box', async (_name, mediaType, content, colour, [least, most]) => {
    const count = await pixelsOf(await withLogo(mediaType, content), [...colour]);
    expect(count).toBeGreaterThan(least);
    expect(count).toBeLessThan(most);
  });

  test.each([
    ['whose pixels are damaged', pngOf(2, 2, Buffer.from('no'))],
    ['of 40 million pixels', pngOf(10_000, 4_000, deflateSync(Buffer.alloc(10)))],
  ])('omits a logo %s and renders the rest of the bill', async (_name, content) => {
    const bytes = await withLogo('image/png', content);
    expect((await pagesOf(bytes)).join('')).toContain('Balance due (USD)');
    expect(await pixelsOf(bytes, [...RED])).toBe(0);
  });
});

describe('PDF worker', () => {
  const party = (name: string) => ({ name, address: [], phone: null, email: null });
  const invoiceTo = (name: string): Invoice => ({
    bill: {
      id: UNKNOWN_ID,
      invoiceNumber: 'INV-1',
      courierId: IEX,
      courierName: name,
      currency: 'USD',
      courierCode: 'IEX',
      serviceType: 'Air',
      startDate: '2026-10-01',
      endDate: '2026-10-31',
      totalPackages: 0,
      taxRate: '0',
      subtotal: '0',
      taxAmount: '0',
      totalAmount: '0',
      paidAmount: '0',
      balance: '0',
      status: 'published' as const,
      remarks: null,
      billFrom: party('From'),
      billTo: party(name),
      createdAt: '2026-11-01T00:00:00.000Z',
      publishedAt: '2026-11-01T00:00:00.000Z',
      dueDate: '2026-12-01',
      storedDueDate: '2026-12-01',
      isOverdue: false,
      mailStatus: null,
    },
    lines: [],
    payments: [],
    logo: undefined,
  });

  test('survives an invoice that cannot be rendered and shares no state between invoices', async () => {
    const write = makeInvoiceWriter();
    await expect(write({ ...invoiceTo('Broken'), lines: ['{'] })).rejects.toThrow(/JSON/);
    // The first invoice draws single letters whose glyphs the ligatures of the second one must not reuse.
    await write(invoiceTo('office ffl fi fl'));
    const second = await write(invoiceTo('o\ufb03ce \ufb04 \ufb01 \ufb02'));
    const alone = await makeInvoiceWriter()(invoiceTo('o\ufb03ce \ufb04 \ufb01 \ufb02'));
    expect(second.equals(alone)).toBe(true);
    expect((await pagesOf(second))[0]).toContain('Invoice');
  });
});
