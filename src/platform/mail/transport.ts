import type { MailConfig } from '../../config/config.js';
import { toMime, type Message } from './mime.js';
import { writeToOutbox } from './outbox.js';
import type { SendResult } from './send-result.js';
import { openSes } from './ses.js';

/** Sends one message to one recipient. Returns a SendResult for every failure of the provider instead of throwing. */
export type Mailer = { send(message: Message): Promise<SendResult>; close(): void };

/** How long sending one message may take. */
const TIMEOUT_MS = 15_000;

/** Returns a mailer that uses SES, or writes the same bytes to a folder if SES is not configured. */
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
