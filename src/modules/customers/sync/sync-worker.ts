import { parentPort } from 'node:worker_threads';
import { readAnswer } from './sync-answer.js';

// The thread of sync-reader.ts.
// as: sync-reader.ts sends the bytes of an answer
parentPort?.once('message', (bytes: Uint8Array) => parentPort?.postMessage(readAnswer(bytes)));
