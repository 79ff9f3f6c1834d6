import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

// Runs as a worker: submits pre-alerts on kept-alive connections as fast as possible and reports the number
// of responses. Bare sockets, because a full HTTP client would use more CPU than the service.
type Load = { port: number; connections: number; seconds: number; key: string };

const { port, connections, seconds, key } = workerData as Load;
const run = Math.random().toString(36).slice(2);
const until = performance.now() + seconds * 1000;
const HTTP = Buffer.from('HTTP/');
let sent = 0;
let created = 0;
let refused = 0;

await Promise.all(Array.from({ length: connections }, submitUntilDone));
parentPort?.postMessage({ created, refused });

function submitUntilDone(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(nextRequest()));
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      // Every response is smaller than a segment and starts its own chunk.
      if (!chunk.subarray(0, 5).equals(HTTP)) return;
      if (chunk.subarray(9, 12).toString() === '201') created += 1;
      else refused += 1;
      if (performance.now() < until) {
        socket.write(nextRequest());
        return;
      }
      socket.end();
      resolve();
    });
  });
}

function nextRequest(): string {
  sent += 1;
  const body = `{"UserCode":"IEX-1001","TrackingNumber":"LOAD-${run}-${sent}"}`;
  return (
    `POST /api/Prealert.php HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-KEY: ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  );
}
