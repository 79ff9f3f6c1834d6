import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/**
 * A real proxy in front of the service that loses the response to the first write, as a broken connection does, and answers
 * 503 with `Retry-After` in seconds. It answers the second attempt with 429 and `Retry-After` as a date, without forwarding
 * it. It forwards everything else.
 */
export type FaultyProxy = {
  url: string;
  /** Returns what is wrong with the attempts so far, or undefined. */
  fault(): string | undefined;
  stop(): Promise<void>;
};

type Attempt = { key: string | undefined; body: string; atMs: number };

const WAIT_SECONDS = 1;
/** A date has whole seconds, so up to one second of it is lost. */
const WAIT_UNTIL_SECONDS = 2;

export async function startFaultyProxy(serviceUrl: string): Promise<FaultyProxy> {
  const attempts: Attempt[] = [];
  const waits: number[] = [];
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(request);
    if (request.method === 'GET') return forward(request, body, response);
    const key = request.headers['idempotency-key'];
    attempts.push({ key: key?.toString(), body: body.toString(), atMs: performance.now() });
    if (attempts.length === 1) {
      await forward(request, body, undefined);
      refuse(response, 503, 'unavailable', String(WAIT_SECONDS), WAIT_SECONDS * 1000);
      return;
    }
    if (attempts.length === 2) {
      const until = new Date(Math.floor(Date.now() / 1000 + WAIT_UNTIL_SECONDS) * 1000);
      refuse(response, 429, 'rate_limited', until.toUTCString(), until.getTime() - Date.now());
      return;
    }
    return forward(request, body, response);
  }

  function refuse(
    response: ServerResponse,
    status: number,
    code: string,
    retryAfter: string,
    waitMs: number,
  ) {
    waits.push(performance.now() + waitMs);
    const message = 'The proxy lost the response. Retry later.';
    const timestamp = Math.floor(Date.now() / 1000);
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': retryAfter });
    response.end(JSON.stringify({ status: 'fail', message, code, request_id: 'proxy', timestamp }));
  }

  /** Sends the request to the service. Without a `response`, the service's response is lost. */
  async function forward(
    request: IncomingMessage,
    body: Buffer,
    response: ServerResponse | undefined,
  ): Promise<void> {
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
    const { 'transfer-encoding': _encoding, expect: _expect, ...sent } = headers;
    const reply = await fetch(serviceUrl + (request.url ?? ''), {
      method: request.method ?? 'GET',
      // Node joins repeated headers, except Set-Cookie, which requests do not have.
      headers: sent as Record<string, string>,
      ...(body.length > 0 ? { body: new Uint8Array(body) } : {}),
    });
    const bytes = Buffer.from(await reply.arrayBuffer());
    if (!response) return;
    // fetch() has already decompressed the body.
    const dropped = ['content-encoding', 'content-length', 'transfer-encoding', 'connection'];
    const kept = [...reply.headers].filter(([name]) => !dropped.includes(name));
    response.writeHead(reply.status, Object.fromEntries(kept)).end(bytes);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // A server that listens on TCP has this kind of address.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: () => faultOf(attempts, waits),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function faultOf(attempts: Attempt[], waits: number[]): string | undefined {
  const [first, ...others] = attempts;
  if (!first || others.length !== 2) return `the write was attempted ${attempts.length} times, not 3`;
  if (!first.key) return 'the write has no Idempotency-Key';
  if (others.some(({ key }) => key !== first.key)) return 'a retry has another Idempotency-Key';
  if (others.some(({ body }) => body !== first.body)) return 'a retry has another body';
  // Timers of some languages fire a few milliseconds early.
  const early = others.findIndex(({ atMs }, index) => atMs < (waits[index] ?? 0) - 20);
  return early === -1 ? undefined : `retry ${early + 1} did not wait as Retry-After says`;
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  // A request without an encoding yields buffers.
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
