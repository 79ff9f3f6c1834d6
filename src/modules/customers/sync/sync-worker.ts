import { parentPort } from 'node:worker_threads';
import { readAnswer } from './sync-answer.js';

// The worker thread of sync-reader.ts, which posts only the bytes of a response.
parentPort?.once('message', (bytes: Uint8Array) => parentPort?.postMessage(readAnswer(bytes)));
