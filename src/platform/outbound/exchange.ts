import type { Dispatcher } from 'undici';
import type { Span } from '../tracing/span.js';
import type { Connections } from './connections.js';
import { TargetError, describeFailure, type FailureReason } from './failures.js';

/** A request to a courier's URL. */
export type OutboundRequest = {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** Timeout for the DNS lookup, connecting, sending and reading the response together. */
  timeoutMs: number;
  /** The maximum size of the response's body. The rest is not read. */
  maxBytes: number;
  /** The span of this request, if it is traced. The client sends its traceparent; the caller ends it. */
  span?: Span | undefined;
};

export type OutboundReply =
  | {
      outcome: 'answered';
      status: number;
      /** The first 64, and those of READ_HEADERS. */
      headers: Record<string, string | string[] | undefined>;
      /** Whether there were more headers. */
      areHeadersCut: boolean;
      /** At most maxBytes. */
      body: Buffer;
      /** Whether the body is incomplete: too large, timed out or disconnected. */
      isCut: boolean;
      durationMs: number;
    }
  | {
      /** `unsafe_target`: the URL or an address of its host is not allowed. No connection was opened. */
      outcome: 'timeout' | 'unreachable' | 'unsafe_target';
      /** A message for the courier's log. It contains nothing about our own network. */
      error: string;
      reason: FailureReason;
      durationMs: number;
    }
  | {
      /**
       * The target has not failed: nothing was sent, because the address's rate limit over all couriers and tenants is used up, or
       * the request was lost here.
       */
      outcome: 'postponed';
      retryAfterMs: number;
      durationMs: number;
    };

type Headers = Record<string, string | string[] | undefined>;

/** A response of 16 KB can have thousands of headers, and each costs when it is handed to another thread. */
const MAX_HEADERS = 64;

/** What the service reads of a response, wherever it stands. */
const READ_HEADERS = ['content-type', 'link', 'location', 'retry-after'];

/** Returns the first headers, with at most so many values, and whether that is not all. */
function firstHeaders(received: Headers): { headers: Headers; areHeadersCut: boolean } {
  const first = new Map<string, Headers[string]>();
  let left = MAX_HEADERS;
  // Only the first of them are looked at.
  for (const name in received) {
    const value = received[name];
    const count = Array.isArray(value) ? value.length : 1;
    if (left > 0) first.set(name, Array.isArray(value) ? value.slice(0, left) : value);
    left -= count;
    if (left < 0) break;
  }
  for (const name of READ_HEADERS) {
    const value = received[name];
    if (value !== undefined && !first.has(name)) first.set(name, Array.isArray(value) ? value[0] : value);
  }
  return { headers: Object.fromEntries(first), areHeadersCut: left < 0 };
}

type Unmeasured<Reply> = Reply extends unknown ? Omit<Reply, 'durationMs'> : never;
export type ExchangeResult = Unmeasured<OutboundReply>;

/** Sends a request to a validated URL and reads the response within the request's limits of time and size. */
export function exchange(connections: Connections, request: OutboundRequest): Promise<ExchangeResult> {
  return new Promise((resolve) => {
    const stopped = new AbortController();
    const body = makeBody(request.maxBytes);
    let controller: Dispatcher.DispatchController | undefined;
    let status: number | undefined;
    let head: ReturnType<typeof firstHeaders> = { headers: {}, areHeadersCut: false };

    const timer = setTimeout(() => {
      const what = controller ? 'no response' : 'no connection';
      stop(reply(new TargetError('timeout', 'timeout', `${what} within ${request.timeoutMs / 1000} s`)));
    }, request.timeoutMs);

    /** Returns the partial response if its headers have arrived, otherwise the failure. */
    function reply(failure: Error): ExchangeResult {
      if (status !== undefined)
        return { outcome: 'answered', status, ...head, body: body.bytes(), isCut: true };
      if (!(failure instanceof TargetError)) return { outcome: 'unreachable', ...describeFailure(failure) };
      const { outcome, retryAfterMs } = failure;
      return outcome === 'postponed' ? { outcome, retryAfterMs } : { outcome, ...describeFailure(failure) };
    }

    // Only the first call has an effect.
    function end(ended: ExchangeResult): void {
      clearTimeout(timer);
      resolve(ended);
    }

    function stop(ended: ExchangeResult): void {
      end(ended);
      stopped.abort();
      controller?.abort(new Error('stopped'));
    }

    const { origin, pathname, search } = new URL(request.url);
    connections.dispatch(
      {
        origin,
        path: pathname + search,
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        signal: stopped.signal,
        maxBytes: request.maxBytes,
      },
      {
        onRequestStart(started) {
          controller = started;
          if (stopped.signal.aborted) started.abort(new Error('stopped'));
        },
        onResponseStart(_controller, statusCode, received) {
          // Ignore informational responses.
          if (statusCode < 200) return;
          status = statusCode;
          head = firstHeaders(received);
        },
        onResponseData(_controller, chunk) {
          if (!body.append(chunk)) stop(reply(new Error('cut')));
        },
        onResponseEnd() {
          if (status !== undefined)
            end({ outcome: 'answered', status, ...head, body: body.bytes(), isCut: false });
        },
        onResponseError: (_controller, error) => end(reply(error)),
      },
    );
  });
}

/** Collects the body in one buffer, because an array of one-byte chunks would need a hundred times as much memory. */
function makeBody(maxBytes: number) {
  let buffer = Buffer.alloc(0);
  let size = 0;
  return {
    /** Returns false if the chunk did not fit completely. */
    append(chunk: Buffer): boolean {
      const taken = Math.min(chunk.length, maxBytes - size);
      if (size + taken > buffer.length) {
        const grown = Buffer.alloc(Math.min(maxBytes, 2 * (size + taken)));
        buffer.copy(grown, 0, 0, size);
        buffer = grown;
      }
      chunk.copy(buffer, size, 0, taken);
      size += taken;
      return taken === chunk.length;
    },
    bytes: () => buffer.subarray(0, size),
  };
}
