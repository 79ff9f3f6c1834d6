import type { UserContext } from '../../../platform/context/request-context.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import type { LogoPrinter, StoredLogo } from '../../couriers/public.js';
import type { FileReply, QueryOf } from '../../../platform/contract/types.js';
import { writeCsv, writeCsvLines } from '../../../platform/files/csv.js';
import { snapshotTransaction, type Db, type PlainTx } from '../../../platform/db/transaction.js';
import { ApiError } from '../../../platform/errors/errors.js';
import {
  findBill,
  linesOfBill,
  paymentsOfBill,
  type BillHeadRow,
  type BillLineRow,
  type PaymentRow,
} from '../detail/queries.js';
import { HEADINGS, toCells } from './cells.js';
import { countLines, logoOfBill } from './queries.js';
import type { Invoice } from './pdf/invoice.js';
import type { InvoiceWriter } from './pdf/writer.js';

/** 190 pages, which take three seconds of CPU time. Longer bills are only useful in formats for programs. */
const MAX_PDF_LINES = 10_000;
const LINES_A_PART = 5_000;
const READING_MS = 15_000;

/** The dependencies of a PDF. */
export type Printing = { db: Db; printLogo: LogoPrinter; writeInvoice: InvoiceWriter };

type Ctx = { db: Db; caller: UserCaller; billId: string };

/**
 * Returns a bill as a file.
 * @throws ApiError bill_not_found, bill_too_long
 */
export async function downloadBill(
  { db, printLogo, writeInvoice }: Printing,
  request: UserContext,
  { bill_id: billId, format }: QueryOf<'downloadCourierBill'>,
): Promise<FileReply<'application/pdf' | 'text/csv'>> {
  const { caller } = request;
  const ctx = { db, caller, billId };
  if (format === 'csv') {
    const { bill, content } = await snapshotTransaction(db, caller, READING_MS, (tx) => writeLines(tx, ctx));
    return { name: fileName(bill, 'csv'), mediaType: 'text/csv', content };
  }
  const { kept, ...read } = await snapshotTransaction(db, caller, READING_MS, (tx) => readInvoice(tx, ctx));
  // The invoice is printed even without its logo.
  const invoice = { ...read, logo: kept && (await printLogo(request, kept)) };
  return {
    name: fileName(invoice.bill, 'pdf'),
    mediaType: 'application/pdf',
    content: await writeInvoice(invoice),
  };
}

async function writeLines(tx: PlainTx, ctx: Ctx): Promise<{ bill: BillHeadRow; content: Buffer }> {
  const bill = await readBill(tx, ctx);
  const parts = [await writeCsv(HEADINGS, [], () => [])];
  for await (const lines of linesInParts(tx, ctx)) parts.push(await writeCsvLines(lines, toCells(bill)));
  return { bill, content: Buffer.concat(parts) };
}

type ReadInvoice = Omit<Invoice, 'logo'> & { kept: StoredLogo | undefined };

async function readInvoice(tx: PlainTx, ctx: Ctx): Promise<ReadInvoice> {
  const { db, caller, billId } = ctx;
  const bill = await readBill(tx, ctx);
  const [counted] = await tx.query<{ total: number }>(countLines(db, caller, billId, MAX_PDF_LINES + 1));
  if (counted && counted.total > MAX_PDF_LINES)
    throw new ApiError('bill_too_long', { args: { limit: MAX_PDF_LINES } });
  const payments = await tx.query<PaymentRow>(paymentsOfBill(db, caller, billId));
  const [kept] = await tx.query<StoredLogo>(logoOfBill(db, caller, billId));
  const lines: string[] = [];
  for await (const part of linesInParts(tx, ctx)) lines.push(JSON.stringify(part));
  return {
    ...toJson({ bill, payments }),
    lines,
    kept,
  };
}

/** Converts dates to text, as in the lines. */
function toJson(rows: { bill: BillHeadRow; payments: PaymentRow[] }): Pick<Invoice, 'bill' | 'payments'> {
  // JSON converts only the dates of these rows, to text.
  return JSON.parse(JSON.stringify(rows)) as Pick<Invoice, 'bill' | 'payments'>;
}

async function readBill(tx: PlainTx, { db, caller, billId }: Ctx): Promise<BillHeadRow> {
  const [bill] = await tx.query<BillHeadRow>(findBill(db, caller, billId));
  if (!bill) throw new ApiError('bill_not_found');
  return bill;
}

async function* linesInParts(tx: PlainTx, { db, caller, billId }: Ctx): AsyncGenerator<BillLineRow[]> {
  for (let offset = 0; ; offset += LINES_A_PART) {
    const page = { limit: LINES_A_PART, offset };
    const lines = await tx.query<BillLineRow>(linesOfBill(db, caller, billId, page));
    yield lines;
    if (lines.length < LINES_A_PART) return;
  }
}

/** A draft has no number, so the file is named after its id. */
function fileName(
  { id, status, invoice_number: number }: Pick<BillHeadRow, 'id' | 'status' | 'invoice_number'>,
  extension: string,
): string {
  const name = status === 'draft' ? `DRAFT-${id.slice(-8)}` : number.replace(/[^\w.-]+/g, '-').slice(0, 100);
  return `${name}.${extension}`;
}
