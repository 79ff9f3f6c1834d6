import type { MailConfig } from '../../config/config.js';
import type { Mailer } from './send-result.js';
import { toMime } from './mime.js';
import { writeToOutbox } from './outbox.js';
import { restrictMailer } from './restrict.js';
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
