import type { Span } from '../tracing/span.js';

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
      durationMs: number;
    }
  | {
      /** Not sent, because the address's rate limit over all couriers and tenants is used up. */
      outcome: 'postponed';
      retryAfterMs: number;
      durationMs: number;
    };
