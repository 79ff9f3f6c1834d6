import { parentPort } from 'node:worker_threads';
import { drawInvoice } from './draw.js';
import type { Invoice, Logo } from './invoice.js';
import { prepareLogo } from './logo.js';

export type Message = { logo: Logo } | { invoice: Invoice };

// as: writer.ts sent it. What fails here ends the thread, and who waits is told.
parentPort?.on('message', (message: Message) => {
  void answer(message).then((content) => parentPort?.postMessage(content));
});

const answer = (message: Message): Promise<Logo | Buffer> =>
  'logo' in message ? prepareLogo(message.logo) : drawInvoice(message.invoice);
