import { ApiError } from '../../../platform/errors/errors.js';
import { oneLine } from '../../../platform/mail/plain-text.js';
import type { Message } from '../../../platform/mail/mime.js';
import type { Jobs } from '../../../platform/queue/jobs.js';
import { sendMail, type Mail, type MailDeps } from '../../mail/public.js';
import { fileName, READ, readInvoice } from '../documents/documents.js';
import { makeInvoiceWriter, type InvoiceWriter } from '../documents/pdf/writer.js';
import { renderBillLetter } from './letter.js';
import { selectMailData } from './queries.js';

/**
 * Returns the task that sends a queued mail with a bill. It draws the PDF when it sends, so payments until then are on it.
 *
 * The task throws an Error to be retried.
 */
export function makeBillMailSender(): (deps: MailDeps, job: Jobs['sendBillMail']) => Promise<void> {
  const writeInvoice = makeInvoiceWriter();
  return (deps, job) =>
    sendMail(
      deps,
      { table: 'bill_mails', label: 'bill mail', compose: (mail) => compose(mail, writeInvoice) },
      job,
    );
}

async function compose(
  { ctx, id }: Mail,
  writeInvoice: InvoiceWriter,
): Promise<Message | { skipped: string }> {
  const [[row]] = await ctx.read([selectMailData(ctx, id)]);
  if (!row) return { skipped: 'the bill no longer exists' };
  // What the courier sees, with masked tracking numbers.
  const caller = { tenantId: ctx.tenantId, courierId: row.courierId };
  const reader = { caller, applicationFilters: ctx.applicationFilters };
  const attachment = await drawAttachment({ ctx, id }, { reader, billId: row.billId, writeInvoice });
  return {
    id,
    senderName: oneLine(row.tenantName),
    recipient: { name: oneLine(row.courierCode), address: row.recipient },
    date: new Date(),
    ...renderBillLetter(row, attachment !== undefined),
    ...(attachment ? { attachments: [attachment] } : {}),
  };
}

type Drawing = { reader: Parameters<typeof readInvoice>[1]; billId: string; writeInvoice: InvoiceWriter };

/** Returns the PDF; undefined if the bill has too many lines for one. A logo that was never drawn is left out. */
async function drawAttachment({ ctx }: Mail, { reader, billId, writeInvoice }: Drawing) {
  try {
    const { storedLogo, ...stored } = await ctx.read((tx) => readInvoice(tx, reader, billId), READ);
    const content = await writeInvoice({ ...stored, logo: storedLogo?.raster ?? undefined });
    return { filename: fileName(stored.bill, 'pdf'), contentType: 'application/pdf', content };
  } catch (error) {
    if (error instanceof ApiError && error.code === 'bill_too_long') return undefined;
    throw error;
  }
}
