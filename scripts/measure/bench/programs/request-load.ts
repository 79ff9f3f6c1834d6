import { connect, type Socket } from 'node:net';
import { createHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

// Runs as a worker: sends requests on kept-alive connections and reports how many succeeded and how long they took. Bare
// sockets, because a full HTTP client would use more CPU than the service; its own program, because the load generators of the
// field round latencies to milliseconds.

/** `{n}` in the path or body becomes a number that is used once, `{value}` the next of `values`, `{line}` the line's number. */
export type RequestTemplate = {
  method: string;
  path: string;
  host: string;
  headers: Record<string, string>;
  body?: string;
  values?: string[];
  /** The number of lines of the body, which is then sent as NDJSON. */
  lines?: number;
};

export type Load = {
  port: number;
  template: RequestTemplate;
  connections: number;
  /** The number of the first request, so that several loads use different `values`. */
  first?: number;
  /** The load ends after this time, or after `requests`. */
  seconds: number;
  requests?: number;
  /** Sends at this rate, whether or not earlier requests are complete. Without it, each connection sends as soon as it can. */
  perSecond?: number;
};

/** Latencies are in milliseconds. At a fixed rate they count from the time at which the request was due. */
export type LoadResult = {
  completed: number;
  sent: number;
  seconds: number;
  failures: string[];
  latency: { p50: number; p90: number; p99: number };
};

const {
  port,
  template,
  connections,
  first = 0,
  seconds,
  requests = Infinity,
  perSecond,
} = workerData as Load;
const run = Math.random().toString(36).slice(2, 8).toUpperCase();
const histogram = createHistogram();
const failures: string[] = [];
const startedMs = performance.now();
const endMs = startedMs + seconds * 1000;
let sent = 0;
let completed = 0;

await Promise.all(Array.from({ length: connections }, work));
const percentile = (p: number) => histogram.percentile(p) / 1000;
const result: LoadResult = {
  completed,
  sent,
  seconds: (performance.now() - startedMs) / 1000,
  failures,
  latency: { p50: percentile(50), p90: percentile(90), p99: percentile(99) },
};
parentPort?.postMessage(result);

/** Sends on one connection until the time or the requests are used up. */
async function work(): Promise<void> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  const receive = makeReceiver(socket);
  while (sent < requests && failures.length < 10) {
    const dueMs = perSecond === undefined ? performance.now() : startedMs + (sent * 1000) / perSecond;
    if (dueMs >= endMs) break;
    sent += 1;
    const request = nextRequest(first + sent);
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    socket.write(request);
    const { status, text } = await receive();
    histogram.record(Math.max(1, Math.round((performance.now() - dueMs) * 1000)));
    if (status >= 200 && status < 300) completed += 1;
    else failures.push(`${status} ${text}`);
  }
  socket.destroy();
}

type Response = { status: number; text: string };

/** Returns a function that waits for the next response on the socket. @throws if the connection ends before it */
function makeReceiver(socket: Socket): () => Promise<Response> {
  let received: Buffer = Buffer.alloc(0);
  let settle: { resolve: (response: Response) => void; reject: (error: Error) => void } | undefined;
  const end = (error: Error) => settle?.reject(error);
  socket.on('error', end);
  socket.on('close', () => end(new Error('The service closed the connection.')));
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const response = parse(received);
    if (!response) return;
    received = Buffer.alloc(0);
    settle?.resolve(response);
  });
  return () => new Promise((resolve, reject) => (settle = { resolve, reject }));
}

/** Returns the response if it is complete. The service sends Content-Length with every response but streamed files. */
function parse(received: Buffer): Response | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = received.toString('latin1', 0, headEnd);
  const [, length] = /^content-length: (\d+)/im.exec(head) ?? [];
  if (length === undefined) throw new Error('A response without Content-Length cannot be measured here.');
  if (received.length < headEnd + 4 + Number(length)) return undefined;
  const status = Number(head.slice(9, 12));
  return { status, text: status < 300 ? '' : received.toString('utf8', headEnd + 4) };
}

function nextRequest(n: number): string {
  const { method, path, host, headers, body, values = [], lines } = template;
  const fill = (text: string, line = 0) =>
    text
      .replaceAll('{n}', `${run}-${n}`)
      .replaceAll('{line}', String(line))
      .replaceAll('{value}', values[n % values.length] ?? '');
  const content =
    body === undefined ? '' : Array.from({ length: lines ?? 1 }, (_, line) => fill(body, line)).join('\n');
  const entity =
    body === undefined
      ? {}
      : {
          'content-type': lines === undefined ? 'application/json' : 'application/x-ndjson',
          'content-length': String(Buffer.byteLength(content)),
        };
  const lineOf = ([name, value]: [string, string]) => `${name}: ${value}\r\n`;
  const head = Object.entries({ host, ...headers, ...entity })
    .map(lineOf)
    .join('');
  return `${method} ${fill(path)} HTTP/1.1\r\n${head}\r\n${content}`;
}
