import { createHash, randomUUID } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import Papa from 'papaparse';
import type { Invoice } from '../../../src/modules/bills/documents/pdf/invoice.js';
import { makeInvoiceWriter } from '../../../src/modules/bills/documents/pdf/writer.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { pagesOf, pixelsOf, popplerText } from '../../support/readers/pdf.js';
import { greyJpeg, png, PNG_SIGNATURE, pngChunk, pngHeader } from '../../support/readers/pictures.js';
import { matching } from '../../support/assertions/matching.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const { IEX } = DEMO.couriers;
const UNKNOWN_ID = '01930a3e-7c1d-7e11-9c5a-000000000000';

const { api, service } = withService();

type Format = 'pdf' | 'csv';
const download = (as: string, bill_id: string, format?: Format) =>
  api.as(as).downloadCourierBill({ bill_id, ...(format ? { format } : {}) });

async function pdfOf(as: string, billId: string): Promise<Buffer> {
  const reply = await download(as, billId).answer();
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/pdf']);
  return reply.bytes;
}

const textOf = async (as: string, billId: string) => (await pagesOf(await pdfOf(as, billId))).join('\n');

async function cellsOf(as: string, billId: string): Promise<string[][]> {
  const reply = await download(as, billId, 'csv').answer();
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  const { data, errors } = Papa.parse<string[]>(reply.bytes.toString(), { newline: '\r\n', delimiter: ',' });
  expect(errors).toEqual([]);
  // The last line ends with a newline too.
  expect(data.pop()).toEqual(['']);
  return data;
}

type Line = Record<string, string | number | null>;

/** The lines as the courier's users see them. */
async function linesOf(billId: string): Promise<Line[]> {
  const { rows } = await service().owner.query<Line>(
    `select position, kind, to_char(received_at at time zone 'UTC', 'YYYY-MM-DD') as day, house_number,
       case when user_code is null then repeat('*', length(tracking_number) - 4) || right(tracking_number, 4)
         else tracking_number end as tracking_number,
       user_code, weight_lb::float as weight, tier, amount_usd
     from bill_lines where bill_id = $1 order by position`,
    [billId],
  );
  return rows;
}

type Plan = {
  status?: 'draft' | 'published';
  lines?: Record<string, string | number | null>[];
  columns?: Record<string, unknown>;
};

/** Plants a bill of IEX as a draft and publishes it if asked. Lines without a kind are adjustments. */
async function insertBill({ status = 'published', lines = [], columns = {} }: Plan): Promise<string> {
  const id = randomUUID();
  const own = { tenant_id: DEMO.tenants.demo, courier_id: IEX };
  const cents = lines.reduce((sum, { amount_usd: amount }) => sum + Math.round(Number(amount ?? 1) * 100), 0);
  const subtotal = (cents / 100).toFixed(2);
  await insert('bills', [
    {
      ...own,
      id,
      invoice_number: `DRAFT-${id.slice(-8)}`,
      service_type: 'Air standard',
      status: 'draft',
      start_date: '2026-10-01',
      end_date: '2026-10-31',
      total_packages: 0,
      tax_rate: 0,
      paid_amount: 0,
      subtotal,
      tax_amount: 0,
      total_amount: subtotal,
      created_at: '2026-11-01T00:00:00Z',
      ...columns,
    },
  ]);
  const rows = lines.map((line, index) => ({
    ...own,
    id: randomUUID(),
    bill_id: id,
    position: index + 1,
    kind: 'adjustment',
    amount_usd: 1,
    ...(line['kind'] ? {} : { description: 'Credit' }),
    ...line,
  }));
  await insert('bill_lines', rows);
  if (status === 'published')
    await service().owner.query(
      `update bills set status = 'published', invoice_number = 'INV-T-' || right(id::text, 8),
         published_at = '2026-11-02T10:20:30Z' where id = $1`,
      [id],
    );
  return id;
}

async function insert(table: string, rows: object[]): Promise<void> {
  if (rows.length === 0) return;
  const columns = Object.keys(Object.assign({}, ...rows)).join(', ');
  await service().owner.query(
    `insert into ${table} (${columns}) select ${columns} from jsonb_populate_recordset(null::${table}, $1::jsonb)`,
    [JSON.stringify(rows)],
  );
}

/** Lines for packages of IEX that are on no bill yet. A package can be on one bill only. */
async function packageLines(count: number): Promise<Line[]> {
  const { rows } = await service().owner.query<{ id: string }>(
    `select id from packages p where courier_id = $1 and not exists (select from bill_lines l where l.package_id = p.id)
     order by id limit $2`,
    [IEX, count],
  );
  expect(rows).toHaveLength(count);
  return rows.map(({ id }, index) => ({
    kind: 'package',
    package_id: id,
    tracking_number: `TRACK${1000 + index}`,
    house_number: `H${index}`,
    user_code: 'IEX-1001',
    received_at: '2026-10-05T23:59:59Z',
    weight_lb: '2.5',
    tier: '1-10 lb',
    amount_usd: '12.00',
  }));
}

async function pay(billId: string, amount: string, voidedAt: string | null = null): Promise<void> {
  await service().owner.query(
    `insert into bill_payments (tenant_id, id, bill_id, courier_id, amount_usd, method, reference, received_on,
       recorded_at, voided_at, void_reason)
     values ($1, gen_random_uuid(), $2, $3, $4, 'cheque', 'CHQ-77', '2026-11-05', '2026-11-05', $5::timestamptz,
       case when $5 is not null then 'bounced' end)`,
    [DEMO.tenants.demo, billId, IEX, amount, voidedAt],
  );
}

const usd = (amount: unknown) =>
  Number(amount).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

const HEADINGS = 'No. Received House no. Tracking number Customer Weight (lb) Tier Amount (USD)';
const withoutSpaces = (text: string) => text.replace(/\s/g, '');

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

  test('prints texts of maximum length in full and repeats the headings on each page', async () => {
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
    expect(all.match(/Q/g)).toHaveLength(100);
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

describe('CSV download', () => {
  const COLUMNS = [
    'Invoice Number',
    'Position',
    'Kind',
    'Date Received',
    'House Number',
    'Tracking Number',
    'User Code',
    'Weight LB',
    'Tier',
    'Rate USD',
    'Amount USD',
    'Description',
  ];

  test('contains every line and nothing else', async () => {
    const reply = await download('iex', DEMO.bills.published, 'csv').answer();
    expect(reply.headers.get('content-disposition')).toBe('attachment; filename="INV-000002.csv"');
    expect(reply.bytes.toString('latin1', 0, 15)).toBe('Invoice Number,');
    expect(reply.bytes.toString().replaceAll('\r\n', '')).not.toMatch(matching(/[\r\n]/, '\r', '\n'));
    const [heading, ...cells] = await cellsOf('iex', DEMO.bills.published);
    expect(heading).toEqual(COLUMNS);
    const lines = await linesOf(DEMO.bills.published);
    expect(cells).toEqual(
      lines.map((line) =>
        [
          'INV-000002',
          line['position'],
          'package',
          line['day'],
          line['house_number'],
          line['tracking_number'],
          line['user_code'] ?? '',
          line['weight'],
          line['tier'],
          '',
          line['amount_usd'],
          '',
        ].map(String),
      ),
    );
  });

  test('writes numbers unchanged and prefixes formulas so that spreadsheets read them as text', async () => {
    const [parcel = {}] = await packageLines(1);
    const billId = await insertBill({
      lines: [
        { ...parcel, user_code: '=1+1', house_number: '@h', tracking_number: '-5', tier: '+t' },
        {
          kind: 'air_freight',
          weight_lb: '4.250',
          rate_usd: '1.75',
          amount_usd: '7.44',
          description: '\t=1',
        },
        { description: '-15 "off", because\r\nof rain', amount_usd: '-15.00' },
      ],
    });
    const number = `INV-T-${billId.slice(-8)}`;
    expect((await cellsOf('admin', billId)).slice(1)).toEqual([
      [number, '1', 'package', '2026-10-05', "'@h", "'-5", "'=1+1", '2.5', "'+t", '', '12.00', ''],
      [number, '2', 'air_freight', '', '', '', '', '4.25', '', '1.75', '7.44', "'\t'=1"],
      [number, '3', 'adjustment', '', '', '', '', '', '', '', '-15.00', `'-15 "off", because\r\nof rain`],
    ]);
  });

  test('contains all 10,001 lines of a bill that is too long for a PDF', async () => {
    const billId = await insertBill({ status: 'draft' });
    await service().owner.query(
      `insert into bill_lines (tenant_id, id, bill_id, courier_id, position, kind, description, amount_usd)
       select $1, gen_random_uuid(), $2, $3, n, 'adjustment', 'Item ' || n, 0.01 from generate_series(1, 10001) n`,
      [DEMO.tenants.demo, billId, IEX],
    );
    const [, ...cells] = await cellsOf('admin', billId);
    expect(cells.map(([, position]) => Number(position))).toEqual(
      Array.from({ length: 10_001 }, (_, n) => n + 1),
    );
    await download('admin', billId, 'pdf').refused(400, 'bill_too_long');
  });
});

describe('download errors and access', () => {
  test.each([
    [{}, 'bill_id'],
    [{ bill_id: 'x' }, 'bill_id'],
    [{ bill_id: DEMO.bills.paid, format: 'PDF' }, 'format'],
    [{ bill_id: DEMO.bills.paid, format: 'xlsx' }, 'format'],
  ])('rejects the query %j with 400 and names the field', async (query, field) => {
    await api.as('admin').downloadCourierBill(unchecked(query)).refused(400, 'validation_failed', field);
  });

  test('denies anonymous callers, disabled accounts, the warehouse role, sibling couriers and other tenants', async () => {
    const query = { bill_id: DEMO.bills.paid };
    await api.anonymous.downloadCourierBill(query).refused(401, 'token_missing');
    for (const format of ['pdf', 'csv'] as const) {
      await download('disabled', DEMO.bills.paid, format).refused(403, 'account_disabled');
      await download('warehouse', DEMO.bills.paid, format).refused(403, 'permission_denied');
      for (const as of ['hrb', 'two/admin', 'two/two'])
        await download(as, DEMO.bills.paid, format).refused(404, 'bill_not_found');
    }
  });

  test('responds to each of 60 simultaneous downloads with the file or with 503 and Retry-After', async () => {
    const replies = await Promise.all(
      Array.from({ length: 60 }, () => download('admin', DEMO.bills.paid, 'csv').answer()),
    );
    const refused = replies.filter(({ status }) => status === 503);
    // One or two downloads run and twenty wait. How many more are accepted later depends on the machine.
    expect(refused.length).toBeGreaterThanOrEqual(10);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(60 - refused.length);
    for (const { body, headers } of refused) {
      expect(body['code']).toBe('overloaded');
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await download('admin', DEMO.bills.paid).ok();
  });
});

describe('PDF worker', () => {
  const party = (name: string) => ({ name, address: [], phone: null, email: null });
  const invoiceTo = (name: string): Invoice => ({
    bill: {
      id: UNKNOWN_ID,
      invoiceNumber: 'INV-1',
      sequenceNumber: 1,
      courierId: IEX,
      courierName: name,
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

function groupBy(lines: Line[], field: string): Map<string, Line[]> {
  const groups = new Map<string, Line[]>();
  for (const line of lines) {
    const key = String(line[field]);
    groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  return groups;
}
