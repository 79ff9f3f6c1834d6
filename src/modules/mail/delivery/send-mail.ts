import type { Logger } from 'pino';
import { BACKGROUND } from '../../../platform/audit/audit.js';
import { makeContext, type SystemContext } from '../../../platform/context/request-context.js';
import type { Db } from '../../../platform/db/database.js';
import type { OutboundMetrics } from '../../../platform/metrics/outbound.js';
import type { Message } from '../../../platform/mail/mime.js';
import { recordOutcome, claimMail, type ClaimedMail, type MailOutcome, type MailTable } from './queries.js';
import type { SendResult, Mailer } from '../../../platform/mail/send-result.js';

export type MailDeps = {
  db: Db;
  mailer: Mailer;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  metrics?: Pick<OutboundMetrics, 'mail'> | undefined;
};

/** A row of a mail table, and the context to read it in. */
export type Mail = { ctx: SystemContext; id: string };

/** The number of attempts before a mail is given up: 16 hours with the queue's backoff. */
export const MAX_ATTEMPTS = 12;

/** Higher than MAX_ATTEMPTS, because a job that reaches the queue's own limit would not update its row. */
export const QUEUE_ATTEMPTS = 25;

/** A mail's table, its name in the log, and the function that creates its message. */
export type MailKind = {
  table: MailTable;
  label: string;
  compose(mail: Mail): Promise<Message | { skipped: string }>;
};

/**
 * Sends a queued mail at least once. If a worker crashes between sending and recording, another one sends it
 * again with the same Message-ID.
 * @throws Error to be retried
 */
export async function sendMail(
  { db, mailer, log, metrics }: MailDeps,
  { table, label, compose }: MailKind,
  { tenantId, mailId }: { tenantId: string; mailId: string },
): Promise<void> {
  // One context for the claim, which commits before the mail is sent, and one for the outcome.
  const contextOf = () => makeContext(db, { kind: 'system', tenantId }, BACKGROUND);
  const claimed = await claim(contextOf(), table, mailId);
  // The mail is already settled.
  if (claimed === undefined) return;
  const { attemptCount: attempt } = claimed;
  const ctx = contextOf();
  const outcome = whyNotTried(claimed) ?? (await tryToSend({ ctx, id: mailId }, compose, mailer, attempt));
  const { status, recipient = null, reason, detail, reference } = outcome;
  const error = [reason, detail].filter(Boolean).join(': ') || null;
  await ctx.write([recordOutcome(ctx, table, mailId, { status, recipient, error })]);
  metrics?.mail(status === 'queued' ? 'retried' : status);
  // No address, because readers of the log need not know the recipients.
  log[LEVELS[status]]({ tenantId, mailId, attempt, reason, reference }, `${label} ${status}`);
  if (status === 'queued') throw new Error(`${capitalized(label)} ${mailId} was not sent: ${reason}`);
}

const LEVELS = { sent: 'info', skipped: 'info', queued: 'warn', failed: 'error' } as const;

type Outcome = {
  /** `queued` means that it will be retried. */
  status: MailOutcome['status'];
  recipient?: string;
  reason?: string;
  /** Stored in the row in addition to the reason. */
  detail?: string;
  reference?: string;
};

// Earlier attempts ended without a result, because the worker was killed or crashed.
const GIVEN_UP: Outcome = { status: 'failed', reason: `given up after ${MAX_ATTEMPTS} attempts` };

const OF_SANDBOX: Outcome = { status: 'skipped', reason: 'no mail leaves a sandbox' };

function whyNotTried({ isOfSandbox, attemptCount }: ClaimedMail): Outcome | undefined {
  if (isOfSandbox) return OF_SANDBOX;
  return attemptCount > MAX_ATTEMPTS ? GIVEN_UP : undefined;
}

/** Claims the mail. Returns undefined if it is already settled. */
async function claim(ctx: SystemContext, table: MailTable, mailId: string): Promise<ClaimedMail | undefined> {
  const [[claimed]] = await ctx.write([claimMail(ctx, table, mailId)]);
  return claimed;
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
  const redirectedTo = 'redirectedTo' in rest ? rest.redirectedTo : undefined;
  const recipient = redirectedTo ?? message.recipient.address;
  return { status: statusOf(outcome, attempt), recipient, ...rest };
}

function statusOf(outcome: SendResult['outcome'], attempt: number): Outcome['status'] {
  if (outcome === 'sent') return 'sent';
  if (outcome === 'blocked') return 'skipped';
  return outcome === 'refused' || attempt === MAX_ATTEMPTS ? 'failed' : 'queued';
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
