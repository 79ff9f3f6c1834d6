import type { Logger } from 'pino';
import type { SystemCaller } from '../../../platform/identity/callers.js';
import { pipeline, type Db } from '../../../platform/db/transaction.js';
import type { OutboundMetrics } from '../../../platform/metrics/outbound.js';
import type { Message } from '../../../platform/mail/mime.js';
import { noteOutcome, takeUpMail, type MailOutcome, type MailTable } from './queries.js';
import type { SendResult } from '../../../platform/mail/send-result.js';
import type { Mailer } from '../../../platform/mail/transport.js';

export type MailDeps = {
  db: Db;
  mailer: Mailer;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  metrics?: Pick<OutboundMetrics, 'mail'> | undefined;
};

/** A row of a table of mails, and the scope in which it is read. */
export type Mail = { db: Db; caller: SystemCaller; id: string };

/** How often sending is tried before a mail is given up: for 16 hours, as the queue spaces its attempts. */
export const MAX_ATTEMPTS = 12;

/** More than a mail's own: a job that reaches the queue's limit would end without a word in the row. */
export const QUEUE_ATTEMPTS = 25;

/** Which table a mail is in, what the log calls it, and how its message is made now. */
export type MailKind = {
  table: MailTable;
  label: string;
  compose(mail: Mail): Promise<Message | { skipped: string }>;
};

/**
 * Sends a queued mail. At least once: where a worker ends between sending and noting it, another sends again, under the
 * same Message-ID.
 *
 * @throws Error when it is to be tried again
 */
export async function sendMail(
  { db, mailer, log, metrics }: MailDeps,
  { table, label, compose }: MailKind,
  { tenantId, mailId }: { tenantId: string; mailId: string },
): Promise<void> {
  const mail: Mail = { db, caller: { kind: 'system', tenantId }, id: mailId };
  const attempt = await takeUp(mail, table);
  // sent, skipped or given up before
  if (attempt === undefined) return;
  const outcome = attempt > MAX_ATTEMPTS ? GIVEN_UP : await tryToSend(mail, compose, mailer, attempt);
  const { status, recipient = null, reason, detail, reference } = outcome;
  const error = [reason, detail].filter(Boolean).join(': ') || null;
  await pipeline(db, mail.caller, [noteOutcome(mail, table, mailId, { status, recipient, error })]);
  metrics?.mail(status === 'queued' ? 'retried' : status);
  // no address: whoever reads the log need not know who gets mail
  log[LEVELS[status]]({ tenantId, mailId, attempt, reason, reference }, `${label} ${status}`);
  if (status === 'queued') throw new Error(`${capitalized(label)} ${mailId} was not sent: ${reason}`);
}

const LEVELS = { sent: 'info', skipped: 'info', queued: 'warn', failed: 'error' } as const;

type Outcome = {
  /** `queued`: to be tried again. */
  status: MailOutcome['status'];
  recipient?: string;
  reason?: string;
  /** What the row keeps beyond the reason. */
  detail?: string;
  reference?: string;
};

// The attempts before this one ended without a word: workers were killed, or the code itself failed.
const GIVEN_UP: Outcome = { status: 'failed', reason: `given up after ${MAX_ATTEMPTS} attempts` };

/** Counts the attempt and answers which it is; undefined when the mail needs none any more. */
async function takeUp(mail: Mail, table: MailTable): Promise<number | undefined> {
  const [rows] = await pipeline(mail.db, mail.caller, [takeUpMail(mail, table, mail.id)]);
  // The column that the statement returns.
  return (rows?.[0] as { attempt_count: number } | undefined)?.attempt_count;
}

async function tryToSend(
  mail: Mail,
  compose: MailKind['compose'],
  mailer: Mailer,
  attempt: number,
): Promise<Outcome> {
  const message = await compose(mail);
  if ('skipped' in message) return { status: 'skipped', reason: message.skipped };
  const { outcome, ...rest } = await mailer.send(message);
  return { status: statusOf(outcome, attempt), recipient: message.recipient.address, ...rest };
}

function statusOf(outcome: SendResult['outcome'], attempt: number): Outcome['status'] {
  if (outcome === 'sent') return 'sent';
  return outcome === 'refused' || attempt === MAX_ATTEMPTS ? 'failed' : 'queued';
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
