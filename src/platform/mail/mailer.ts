import type { Message } from './mime.js';
import type { SendResult } from './send-result.js';

/** Sends one message to one recipient. Returns a SendResult for every failure of the provider instead of throwing. */
export type Mailer = { send(message: Message): Promise<SendResult>; close(): void };
