import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FAULTS, type Fault, type Reply } from './faults.js';

/** A proxy in front of a service, which gives each request a fault. */
export type FaultProxy = {
  url: string;
  /** The requests that it received, the oldest first. */
  attempts: Attempt[];
  stop(): Promise<void>;
};

export type Attempt = {
  /** What happened to it. Undefined if it was forwarded and its response was returned. */
  fault: Fault | undefined;
  method: string;
  path: string;
  key: string | undefined;
  userAgent: string | undefined;
  body: string;
  /** The header Retry-After of its response. */
  retryAfter?: string;
  /** Its arrival by the clock, to compare with a date. */
  atDate: Date;
  /** Milliseconds of performance.now(): its arrival, when the fault had happened, and the end of the connection. */
  atMs: number;
  faultMs?: number;
  endMs?: number;
};

export type FaultPlan = {
  /** The faults of the first requests. All later ones are forwarded. */
  faults: Fault[];
  /** A fault of all later requests instead. */
  then?: Fault;
  /** Only these requests have faults and are counted. Default: all. */
  only?: (request: IncomingMessage) => boolean;
};

/** Starts the proxy on a free port of this machine. */
export async function startFaultProxy(serviceUrl: string, plan: FaultPlan): Promise<FaultProxy> {
  const attempts: Attempt[] = [];
  const server = createServer((request, response) => {
    // Each attempt has a connection of its own, as after a broken one.
    response.setHeader('connection', 'close');
    answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (plan.only?.(request) === false) {
      respond(response, await forward(serviceUrl, request, await readAll(request)));
      return;
    }
    const fault = plan.faults[attempts.length] ?? plan.then;
    const attempt = attemptOf(request, fault);
    attempts.push(attempt);
    response.on('close', () => (attempt.endMs = performance.now()));
    let reading: Promise<Buffer> | undefined;
    const readBody = async () => {
      const body = await (reading ??= readAll(request));
      attempt.body = body.toString();
      return body;
    };
    const forwardBody = async () => forward(serviceUrl, request, await readBody());
    if (fault === undefined) {
      respond(response, await forwardBody());
      return;
    }
    await FAULTS[fault]({ request, response, read: readBody, forward: forwardBody });
    attempt.faultMs = performance.now();
    const retryAfter = response.getHeader('retry-after');
    if (retryAfter !== undefined) attempt.retryAfter = String(retryAfter);
  }

  // Node would otherwise answer a request without an end with 408.
  server.requestTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // A server that listens on TCP has this kind of address.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    attempts,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function attemptOf(
  { method = 'GET', url = '/', headers }: IncomingMessage,
  fault: Fault | undefined,
): Attempt {
  return {
    fault,
    method,
    path: url,
    key: headers['idempotency-key']?.toString(),
    userAgent: headers['user-agent'],
    body: '',
    atDate: new Date(),
    atMs: performance.now(),
  };
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  // A request without an encoding yields buffers.
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Sends a request to the service and reads the whole response. */
async function forward(serviceUrl: string, request: IncomingMessage, body: Buffer): Promise<Reply> {
  const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
  const { 'transfer-encoding': _encoding, expect: _expect, ...sent } = headers;
  const reply = await fetch(serviceUrl + (request.url ?? ''), {
    method: request.method ?? 'GET',
    // Node joins repeated headers, except Set-Cookie, which requests do not have.
    headers: sent as Record<string, string>,
    ...(body.length > 0 ? { body: new Uint8Array(body) } : {}),
  });
  const bytes = Buffer.from(await reply.arrayBuffer());
  const kept = [...reply.headers].filter(([name]) => !NOT_FORWARDED.has(name));
  return { status: reply.status, headers: Object.fromEntries(kept), bytes };
}

/** fetch() has already decompressed the body. */
const NOT_FORWARDED = new Set(['content-encoding', 'content-length', 'transfer-encoding', 'connection']);

function respond(response: ServerResponse, { status, headers, bytes }: Reply): void {
  response.writeHead(status, headers).end(bytes);
}
