import type { UserContext } from '../../../platform/context/request-context.js';
import type { FileReply, QueryOf } from '../../../platform/contract/types.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { harmless, type Cell } from '../../../platform/files/csv-cells.js';
import { writeCsv, writeCsvLines } from '../../../platform/files/csv.js';
import type { ReadTx } from '../../../platform/db/scope.js';
import type { BillScope } from '../shared/bill-row.js';
import type { LogoPrinter, StoredLogo } from '../../couriers/public.js';
import {
  findBill,
  linesOfBill,
  paymentsOfBill,
  type BillHeadRow,
  type BillLineRow,
} from '../detail/queries.js';
import type { Invoice } from './pdf/invoice.js';
import type { InvoiceWriter } from './pdf/writer.js';
import { countOfLines, logoOfBill } from './queries.js';
import { formatDate } from '../../../platform/values/time.js';

/** 190 pages, which take three seconds of CPU time. Longer bills are only useful in formats for programs. */
const MAX_PDF_LINES = 10_000;
const LINES_PER_READ = 5_000;
export const READ = { from: 'replica', timeoutMs: 15_000 } as const;

/** The dependencies of a PDF. */
export type Printing = { printLogo: LogoPrinter; writeInvoice: InvoiceWriter };

/**
 * Returns a bill as a file.
 * @throws ApiError bill_not_found, bill_too_long
 */
export async function downloadBill(
  ctx: UserContext,
  { bill_id: billId, format }: QueryOf<'downloadCourierBill'>,
  { printLogo, writeInvoice }: Printing,
): Promise<FileReply<'application/pdf' | 'text/csv'>> {
  if (format === 'csv') {
    const { bill, content } = await ctx.read((tx) => writeLines(tx, ctx, billId), READ);
    return { name: fileName(bill, 'csv'), mediaType: 'text/csv', content };
  }
  const { storedLogo, ...stored } = await ctx.read((tx) => readInvoice(tx, ctx, billId), READ);
  // The invoice is printed even without its logo.
  const invoice = { ...stored, logo: storedLogo && (await printLogo(ctx, storedLogo)) };
  return {
    name: fileName(invoice.bill, 'pdf'),
    mediaType: 'application/pdf',
    content: await writeInvoice(invoice),
  };
}

type Queries = Pick<ReadTx, 'query'>;

async function writeLines(
  tx: Queries,
  reader: BillScope,
  billId: string,
): Promise<{ bill: BillHeadRow; content: Buffer }> {
  const bill = await readBill(tx, reader, billId);
  const parts = [await writeCsv(HEADINGS, [], () => [])];
  for await (const lines of readLines(tx, reader, billId))
    parts.push(await writeCsvLines(lines, toCells(bill)));
  return { bill, content: Buffer.concat(parts) };
}

type StoredInvoice = Omit<Invoice, 'logo'> & { storedLogo: StoredLogo | undefined };

/**
 * Reads what a PDF prints, as the reader may see it.
 * @throws ApiError bill_not_found, bill_too_long
 */
export async function readInvoice(tx: Queries, reader: BillScope, billId: string): Promise<StoredInvoice> {
  const bill = await readBill(tx, reader, billId);
  const [counted] = await tx.query(countOfLines(reader, billId, MAX_PDF_LINES + 1));
  if (counted && counted.total > MAX_PDF_LINES)
    throw new ApiError('bill_too_long', { args: { limit: MAX_PDF_LINES } });
  const payments = await tx.query(paymentsOfBill(reader, billId));
  const [storedLogo] = await tx.query(logoOfBill(reader, billId));
  const lines: string[] = [];
  for await (const part of readLines(tx, reader, billId)) lines.push(JSON.stringify(part));
  // JSON converts only the dates of these rows, to text, as in the lines.
  const dated = JSON.parse(JSON.stringify({ bill, payments })) as Pick<Invoice, 'bill' | 'payments'>;
  return { ...dated, lines, storedLogo };
}

async function readBill(tx: Queries, reader: BillScope, billId: string): Promise<BillHeadRow> {
  const [bill] = await tx.query(findBill(reader, billId));
  if (!bill) throw new ApiError('bill_not_found');
  return bill;
}

async function* readLines(tx: Queries, reader: BillScope, billId: string): AsyncGenerator<BillLineRow[]> {
  for (let page = 1; ; page += 1) {
    const lines = await tx.query(linesOfBill(reader, billId, { page, limit: LINES_PER_READ }));
    yield lines;
    if (lines.length < LINES_PER_READ) return;
  }
}

/** A draft has no number, so the file is named after its id. */
export function fileName(
  { id, status, invoiceNumber }: Pick<BillHeadRow, 'id' | 'status' | 'invoiceNumber'>,
  extension: string,
): string {
  const number = invoiceNumber.replace(/[^\w.-]+/g, '-').slice(0, 100);
  return `${status === 'draft' ? `DRAFT-${id.slice(-8)}` : number}.${extension}`;
}

/** The released contract has these headings. In another currency than USD, they name it wrongly, and programs still find their columns. */
const HEADINGS = [
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
] as const;

/**
 * Returns the cells of one row, in the order of HEADINGS. A value that does not apply is empty. Numbers are
 * not escaped, even with a minus sign.
 */
const toCells =
  (bill: BillHeadRow) =>
  (line: BillLineRow): Cell[] => [
    harmless(bill.status === 'draft' ? 'DRAFT' : bill.invoiceNumber),
    line.position,
    line.kind,
    line.receivedAt ? formatDate(line.receivedAt) : '',
    harmless(line.houseNumber ?? ''),
    harmless(line.trackingNumber ?? ''),
    harmless(line.userCode ?? ''),
    line.weightLb === null ? '' : Number(line.weightLb),
    harmless(line.tier ?? ''),
    line.rateUsd ?? '',
    line.amountUsd,
    harmless(line.description ?? ''),
  ];
