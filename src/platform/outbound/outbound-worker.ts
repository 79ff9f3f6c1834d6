import { parentPort } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol, workerData } from 'piscina';
import type { OutboundConfig } from '../../config/config.js';
import { makeOutboundClient, type OutboundReply, type OutboundRequest } from './client.js';

// The worker thread of threaded-client.ts.

const client = makeOutboundClient(workerData as OutboundConfig);

// An exception in an event of one socket must not end the requests of all couriers. Its own request ends by its time limit.
process.on('uncaughtException', (error) =>
  parentPort?.postMessage({ uncaught: error.stack ?? String(error) }),
);

/** The body is handed over, because a copy of 20 MiB would hold both threads. */
function handOver(reply: OutboundReply): unknown {
  if (!('body' in reply)) return reply;
  return move({
    get [transferableSymbol]() {
      return reply.body.buffer;
    },
    get [valueSymbol]() {
      return reply;
    },
  });
}

export default async (request: OutboundRequest): Promise<unknown> => handOver(await client.send(request));
