import type { MailConfig } from '../../config/config.js';
import { toMime, type Message } from './mime.js';
import { writeToOutbox } from './outbox.js';
import type { SendResult } from './send-result.js';
import { openSes } from './ses.js';

/** Sends one message to one recipient. Never throws for what the other side does. */
export type Mailer = { send(message: Message): Promise<SendResult>; close(): void };

/** How long sending one message may take. */
const TIMEOUT_MS = 15_000;

/** Mail through SES or, without settings for it, into a folder; the same bytes either way. */
export function makeMailer({ from, ses, outbox }: MailConfig, timeoutMs = TIMEOUT_MS): Mailer {
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
