import type { Logger } from 'pino';
import { flushInScope, type Db } from '../db/transaction.js';
import type { OutboundMetrics } from '../metrics/outbound.js';
import type { Jobs } from '../queue/jobs.js';
import { composeMail, type Mail } from './compose.js';
import { noteOutcome, takeUpMail, type MailOutcome } from './queries.js';
import type { Mailer, SendResult } from './transport.js';

export type MailDeps = {
  db: Db;
  mailer: Mailer;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  metrics?: Pick<OutboundMetrics, 'mail'> | undefined;
};

/** How often sending is tried before a mail is given up: for 16 hours, as the queue spaces its attempts. */
export const MAX_ATTEMPTS = 12;

/**
 * Sends a queued mail to the address of the courier's profile: of the status that it was queued for, with what the
 * courier has aboard now. At least once: where a worker ends between sending and noting it, another sends again, under
 * the same Message-ID.
 *
 * @throws Error when it is to be tried again
 */
export async function sendManifestMail(
  { db, mailer, log, metrics }: MailDeps,
  { tenantId, mailId }: Jobs['sendManifestMail'],
): Promise<void> {
  const mail: Mail = { db, caller: { kind: 'system', tenantId }, id: mailId };
  const attempt = await takeUp(mail);
  // sent, skipped or given up before
  if (attempt === undefined) return;
  const outcome = attempt > MAX_ATTEMPTS ? GIVEN_UP : await tryToSend(mail, mailer, attempt);
  const { status, recipient = null, reason, detail, reference } = outcome;
  const error = [reason, detail].filter(Boolean).join(': ') || null;
  await flushInScope(db, mail.caller, [noteOutcome(mail, mailId, { status, recipient, error })]);
  metrics?.mail(status === 'queued' ? 'retried' : status);
  // no address: whoever reads the log need not know who gets mail
  log[LEVELS[status]]({ tenantId, mailId, attempt, reason, reference }, `manifest mail ${status}`);
  if (status === 'queued') throw new Error(`Manifest mail ${mailId} was not sent: ${reason}`);
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
async function takeUp(mail: Mail): Promise<number | undefined> {
  const [rows] = await flushInScope(mail.db, mail.caller, [takeUpMail(mail, mail.id)]);
  // as: the column that the statement returns
  return (rows?.[0] as { attempt_count: number } | undefined)?.attempt_count;
}

async function tryToSend(mail: Mail, mailer: Mailer, attempt: number): Promise<Outcome> {
  const message = await composeMail(mail);
  if ('skipped' in message) return { status: 'skipped', reason: message.skipped };
  const { outcome, ...rest } = await mailer.send(message);
  return { status: statusOf(outcome, attempt), recipient: message.recipient.address, ...rest };
}

function statusOf(outcome: SendResult['outcome'], attempt: number): Outcome['status'] {
  if (outcome === 'sent') return 'sent';
  return outcome === 'refused' || attempt === MAX_ATTEMPTS ? 'failed' : 'queued';
}
