import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

// Runs as a worker: submits pre-alerts on kept-alive connections as fast as possible and reports how many were created and
// how many calls failed. Bare sockets, because a full HTTP client would use more CPU than the service.
export type Load = {
  port: number;
  connections: number;
  seconds: number;
  key: string;
  /** The pre-alerts per request; more than one are sent as lines. */
  perRequest: number;
};

const { port, connections, seconds, key, perRequest } = workerData as Load;
const run = Math.random().toString(36).slice(2);
const until = performance.now() + seconds * 1000;
let sent = 0;
let created = 0;
let refused = 0;

await Promise.all(Array.from({ length: connections }, submitUntilDone));
parentPort?.postMessage({ created, refused });

function submitUntilDone(): Promise<void> {
  return new Promise((resolve, reject) => {
    let reply = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(nextRequest()));
    socket.setEncoding('latin1');
    socket.on('error', reject);
    socket.on('data', (chunk: string) => {
      reply += chunk;
      if (!isComplete(reply)) return;
      count(reply);
      reply = '';
      if (performance.now() < until) {
        socket.write(nextRequest());
        return;
      }
      socket.end();
      resolve();
    });
  });
}

function isComplete(reply: string): boolean {
  const end = reply.indexOf('\r\n\r\n');
  const [, length] = /content-length: (\d+)/i.exec(reply.slice(0, end)) ?? [];
  return end >= 0 && reply.length === end + 4 + Number(length);
}

function count(reply: string): void {
  const status = reply.slice(9, 12);
  const [, lines] = status === '200' ? (/"created":(\d+)/.exec(reply) ?? []) : [];
  const accepted = status === '201' ? 1 : Number(lines ?? 0);
  created += accepted;
  if (accepted !== perRequest) refused += 1;
}

function nextRequest(): string {
  const lines = Array.from({ length: perRequest }, () => {
    sent += 1;
    return `{"UserCode":"IEX-1001","TrackingNumber":"LOAD-${run}-${sent}"}`;
  });
  const body = lines.join('\n');
  const type = perRequest === 1 ? 'application/json' : 'application/x-ndjson';
  return (
    `POST /api/Prealert.php HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-KEY: ${key}\r\n` +
    `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  );
}
