import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request as the proxy received it, and how to forward it to the service. */
export type Exchange = {
  request: IncomingMessage;
  response: ServerResponse;
  /** Reads the request to its end. */
  read(): Promise<Buffer>;
  /** Reads the request, sends it to the service and returns the whole response. */
  forward(): Promise<Reply>;
};

export type Reply = { status: number; headers: Record<string, string>; bytes: Buffer };

/** Seconds that a refusal asks to wait. */
const RETRY_AFTER_SECONDS = 1;
/** A date has whole seconds, so up to one second of it is lost. */
const RETRY_AFTER_DATE_SECONDS = 2;

const SLOW_BYTE_MS = 500;

/** How many lines arrive in time on the slow line. */
export const MAX_LINES_IN_TIME = 70;

/** What can happen to a request. The service has executed it if its response was lost, cut or slow. */
export const FAULTS = {
  /** The service answers, and the connection breaks before the first byte of its response. */
  lost: async ({ response, forward }) => {
    await forward();
    response.destroy();
  },
  /** The connection breaks within the body. `Content-Length` says that there is more. */
  cut: async ({ response, forward }) => {
    const { status, headers, bytes } = await forward();
    response.writeHead(status, { ...headers, 'content-length': String(bytes.length) });
    breakAfter(response, half(bytes));
  },
  /** The same without `Content-Length`: the last chunk is missing. */
  cut_chunked: async ({ response, forward }) => {
    const { status, headers, bytes } = await forward();
    response.writeHead(status, { ...headers, 'transfer-encoding': 'chunked' });
    breakAfter(response, half(bytes));
  },
  /** A proxy has read half of the body and passes it on as if it were whole. Only its JSON shows it. */
  cut_unnoticed: async ({ response, forward }) => {
    const { status, headers, bytes } = await forward();
    const first = half(bytes);
    response.writeHead(status, { ...headers, 'content-length': String(first.length) }).end(first);
  },
  /** The request is read, and nothing is ever answered. */
  silent: async ({ read }) => {
    await read();
  },
  /** The headers arrive and half of the body. Then there is nothing more. */
  silent_in_body: async ({ response, forward }) => {
    const { status, headers, bytes } = await forward();
    response.writeHead(status, { ...headers, 'content-length': String(bytes.length) });
    response.write(half(bytes));
  },
  /** The body arrives byte by byte, without an end in sight. */
  slow: async ({ response, forward }) => {
    const { status, headers, bytes } = await forward();
    response.writeHead(status, { ...headers, 'content-length': String(bytes.length) });
    let sent = 0;
    if (response.destroyed) return;
    const timer = setInterval(() => response.write(bytes.subarray(sent, (sent += 1))), SLOW_BYTE_MS);
    response.on('close', () => clearInterval(timer));
  },
  /** The connection is reset before the request is read. */
  reset: ({ request }) => {
    request.socket.resetAndDestroy();
  },
  http_408: refuse(408, 'request_timeout'),
  http_429: refuse(429, 'rate_limited', () => String(RETRY_AFTER_SECONDS)),
  /** `Retry-After` as a date. */
  http_429_date: refuse(429, 'rate_limited', () =>
    new Date(Date.now() + RETRY_AFTER_DATE_SECONDS * 1000).toUTCString(),
  ),
  /** A wait that no client should begin. */
  http_429_hour: refuse(429, 'too_many_attempts', () => '3600'),
  /** The first request with this Idempotency-Key is still in progress. */
  in_progress: refuse(409, 'idempotency_in_progress', () => String(RETRY_AFTER_SECONDS)),
  http_500: refuse(500, 'internal_error'),
  http_502: refuse(502, undefined),
  http_503: refuse(503, 'unavailable', () => String(RETRY_AFTER_SECONDS)),
  http_504: refuse(504, undefined),
  http_520: refuse(520, undefined),
  http_521: refuse(521, undefined),
  http_522: refuse(522, undefined),
  http_523: refuse(523, undefined),
  http_524: refuse(524, undefined),
  http_525: refuse(525, undefined),
  http_526: refuse(526, undefined),
  http_527: refuse(527, undefined),
  http_530: refuse(530, undefined),
  /** A captive portal or a proxy answers itself, with a success in JSON. */
  portal: async ({ response, read }) => {
    await read();
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
  },
  /** A line that is too slow for a body of more than some pre-alerts. Smaller ones are forwarded. */
  slow_line: async (exchange) => {
    const lines = (await exchange.read()).toString().split('\n').length - 1;
    if (lines > MAX_LINES_IN_TIME) return refuse(408, 'request_timeout')(exchange);
    const { status, headers, bytes } = await exchange.forward();
    exchange.response.writeHead(status, headers).end(bytes);
  },
} satisfies Record<string, (exchange: Exchange) => void | Promise<void>>;

export type Fault = keyof typeof FAULTS;

/** Answers without the service. Without a code, the response is the page of a proxy. */
function refuse(status: number, code: string | undefined, retryAfter?: () => string) {
  return async ({ response, read }: Exchange): Promise<void> => {
    await read();
    const headers = retryAfter ? { 'retry-after': retryAfter() } : {};
    if (code === undefined) {
      response.writeHead(status, { ...headers, 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
      return;
    }
    const timestamp = Math.floor(Date.now() / 1000);
    const outcome = status >= 500 ? 'error' : 'fail';
    const body = { status: outcome, message: 'Send it again.', code, request_id: 'proxy', timestamp };
    response
      .writeHead(status, { ...headers, 'content-type': 'application/json' })
      .end(JSON.stringify({ ...body, doc_url: `/docs/errors#${code}` }));
  };
}

/** Breaks the connection when the bytes are on their way. */
function breakAfter(response: ServerResponse, bytes: Buffer): void {
  response.write(bytes, () => response.destroy());
}

const half = (bytes: Buffer) => bytes.subarray(0, Math.ceil(bytes.length / 2));
