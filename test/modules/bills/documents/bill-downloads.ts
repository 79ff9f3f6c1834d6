import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import Papa from 'papaparse';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { pagesOf } from '../../../support/readers/pdf.js';
import type { Fixture } from '../../../support/fixture/with-service.js';

const { IEX } = DEMO.couriers;

export const UNKNOWN_ID = '01930a3e-7c1d-7e11-9c5a-000000000000';

type Format = 'pdf' | 'csv';

type Line = Record<string, string | number | null>;

type Plan = {
  status?: 'draft' | 'published';
  lines?: Record<string, string | number | null>[];
  columns?: Record<string, unknown>;
};

export const usd = (amount: unknown) =>
  Number(amount).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

export const HEADINGS = 'No. Received House no. Tracking number Customer Weight (lb) Tier Amount (USD)';

export const withoutSpaces = (text: string) => text.replace(/\s/g, '');

export function groupBy(lines: Line[], field: string): Map<string, Line[]> {
  const groups = new Map<string, Line[]>();
  for (const line of lines) {
    const key = String(line[field]);
    groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  return groups;
}

/** Downloads and planted bills for tests of documents. */
export function makeDownloads({ api, service }: Fixture) {
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
    const { data, errors } = Papa.parse<string[]>(reply.bytes.toString(), {
      newline: '\r\n',
      delimiter: ',',
    });
    expect(errors).toEqual([]);
    // The last line ends with a newline too.
    expect(data.pop()).toEqual(['']);
    return data;
  }

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

  /** Plants a bill of IEX as a draft and publishes it if asked. Lines without a kind are adjustments. */
  async function insertBill({ status = 'published', lines = [], columns = {} }: Plan): Promise<string> {
    const id = randomUUID();
    const own = { tenant_id: DEMO.tenants.demo, courier_id: IEX };
    const cents = lines.reduce(
      (sum, { amount_usd: amount }) => sum + Math.round(Number(amount ?? 1) * 100),
      0,
    );
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

  return { download, pdfOf, textOf, cellsOf, linesOf, insertBill, packageLines, pay };
}
