import { parentPort } from 'node:worker_threads';
import { drawInvoice } from './draw.js';
import type { Invoice } from './invoice.js';

// Only writer.ts posts messages here. An error ends the thread and rejects the caller's promise.
parentPort?.on('message', (invoice: Invoice) => {
  void drawInvoice(invoice).then((content) => parentPort?.postMessage(content));
});
parentPort?.postMessage('ready');
