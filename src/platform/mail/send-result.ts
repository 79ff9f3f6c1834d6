import type { Message } from './mime.js';

export type SendResult =
  | {
      outcome: 'sent';
      /** The message id from SES, or the path of the file in the outbox. */
      reference: string;
      /** The address that got the message instead of its recipient. */
      redirectedTo?: string;
    }
  | {
      /** This deployment does not mail the recipient. Nothing was sent. */
      outcome: 'blocked';
      reason: string;
    }
  | {
      /** `refused` is permanent: another attempt would fail too. */
      outcome: 'failed' | 'refused';
      /** A short reason for the log, without addresses. */
      reason: string;
      /** The full message of the provider, which may contain addresses. */
      detail?: string;
    };

/** Sends one message to one recipient. Returns a SendResult for every failure of the provider instead of throwing. */
export type Mailer = { send(message: Message): Promise<SendResult>; close(): void };
