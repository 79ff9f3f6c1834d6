import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { matching } from '../../../support/assertions/matching.js';
import { withService } from '../../../support/fixture/with-service.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { makeDownloads } from './bill-downloads.js';

const { IEX } = DEMO.couriers;

const fixture = withService();
const { api, service } = fixture;
const { download, cellsOf, linesOf, packageLines, insertBill } = makeDownloads(fixture);

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
