import { parentPort } from 'node:worker_threads';
import { readSyncResponse } from './sync-response.js';

// The worker thread of sync-reader.ts, which posts only the bytes of a response.
parentPort?.once('message', (bytes: Uint8Array) => parentPort?.postMessage(readSyncResponse(bytes)));
