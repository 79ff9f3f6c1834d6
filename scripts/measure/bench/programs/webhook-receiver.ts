import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';

// Runs as a worker: a courier's system that accepts all webhooks at once. Posts its port, and then its count
// for each message.
let received = 0;
const server = createServer((request, response) => {
  request.resume().once('end', () => {
    received += 1;
    response.writeHead(204).end();
  });
});
server.keepAliveTimeout = 60_000;
// A server that listens on TCP has an address of this type.
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port));
parentPort?.on('message', () => parentPort?.postMessage(received));
