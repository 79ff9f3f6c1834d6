import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// Runs as a child process: the least that a service in Node does for a request with a small JSON body.
const server = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => (text += chunk));
  request.on('end', () => {
    const body = JSON.stringify({ status: 'success', data: JSON.parse(text) as unknown });
    response.writeHead(201, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
  });
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
