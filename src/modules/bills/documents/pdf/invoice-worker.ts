import { parentPort } from 'node:worker_threads';
import { drawInvoice } from './draw.js';
import type { Invoice } from './invoice.js';

// as: writer.ts sent it. What fails here ends the thread, and who waits is told.
parentPort?.on('message', (invoice: Invoice) => {
  void drawInvoice(invoice).then((content) => parentPort?.postMessage(content));
});
parentPort?.postMessage('ready');
