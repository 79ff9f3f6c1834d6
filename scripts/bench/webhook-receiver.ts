import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';

// Runs as a worker: a courier's own system that takes everything at once. Says its port, then how many it has had
// whenever it is asked.
let received = 0;
const server = createServer((request, response) => {
  request.resume().once('end', () => {
    received += 1;
    response.writeHead(204).end();
  });
});
server.keepAliveTimeout = 60_000;
// as: a server that listens on TCP has an address of this kind
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port));
parentPort?.on('message', () => parentPort?.postMessage(received));
