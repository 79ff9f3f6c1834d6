import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MailConfig, MailRecipients } from '../../config/config.js';
import type { Mailer, SendResult } from './send-result.js';
import { toMime, type Message } from './mime.js';
import { openSes } from './ses.js';

/** How long sending one message may take. */
const TIMEOUT_MS = 15_000;

/**
 * Returns a mailer that uses SES, or writes the same bytes to a folder if SES is not configured. In staging it sends only to
 * the recipients that the settings allow.
 */
export function makeMailer(config: MailConfig, timeoutMs = TIMEOUT_MS): Mailer {
  const mailer = openTransport(config, timeoutMs);
  return config.recipients ? restrictMailer(mailer, config.recipients) : mailer;
}

function openTransport({ from, ses, outbox }: MailConfig, timeoutMs: number): Mailer {
  if (!ses) {
    return {
      send: async (message) => writeToOutbox(outbox, message, await toMime(message, from)),
      close() {},
    };
  }
  const opened = openSes(ses, timeoutMs);
  return {
    async send(message) {
      const bytes = await toMime(message, from);
      return opened.send({ source: from, destination: message.recipient.address, bytes });
    },
    close: opened.close,
  };
}

/** Returns a mailer that sends only to the allowed recipients, and everything else to one address or to nobody. */
function restrictMailer(mailer: Mailer, { otherwiseTo, domains }: MailRecipients): Mailer {
  return {
    async send(message) {
      const { address } = message.recipient;
      if (domains.includes(domainOf(address)) || address === otherwiseTo) return mailer.send(message);
      if (otherwiseTo === undefined) return { outcome: 'blocked', reason: NOT_LISTED };
      const result = await mailer.send(redirect(message, otherwiseTo));
      return result.outcome === 'sent' ? { ...result, redirectedTo: otherwiseTo } : result;
    },
    close: mailer.close,
  };
}

const NOT_LISTED = 'staging sends mail only to STAGING_MAIL_DOMAINS and STAGING_MAIL_TO';

const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1).toLowerCase();

/** The subject names the recipient, so that a tester can distinguish the mails of all users in one mailbox. */
function redirect(message: Message, address: string): Message {
  const { recipient, subject } = message;
  return {
    ...message,
    recipient: { ...recipient, address },
    subject: `[to ${recipient.address}] ${subject}`,
  };
}

/**
 * Writes a message to the outbox folder, as a file that only this account can read. The file gets its final name after it is
 * complete. Never throws: returns `failed` with the error's code.
 */
async function writeToOutbox(
  folder: string,
  { id, date }: Pick<Message, 'id' | 'date'>,
  bytes: Buffer,
): Promise<SendResult> {
  const file = join(folder, `${date.toISOString().replaceAll(/[:.]/g, '-')}-${id}.eml`);
  const unfinished = join(folder, `.${randomUUID()}.part`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(unfinished, bytes, { mode: 0o600, flag: 'wx', flush: true });
    await rename(unfinished, file);
    return { outcome: 'sent', reference: file };
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    // Errors of the file system have a code.
    return {
      outcome: 'failed',
      reason: `${(error as NodeJS.ErrnoException).code ?? 'unknown'} in the outbox`,
    };
  }
}
