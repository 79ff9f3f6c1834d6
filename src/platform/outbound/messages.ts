/** A request to an address that a courier gave. */
export type OutboundRequest = {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** For all of it: looking the name up, connecting, sending, and reading the answer. */
  timeoutMs: number;
  /** How much of the answer's body is read; what comes beyond is cut off. */
  maxBytes: number;
};

export type OutboundReply =
  | {
      outcome: 'answered';
      status: number;
      /** At most maxBytes. */
      body: Buffer;
      /** Whether there was more, or the time was up or the connection broke before the body's end. */
      isCut: boolean;
      durationMs: number;
    }
  | {
      /** unsafe_target: an address that strangers may not have us call; nothing was connected to. */
      outcome: 'timeout' | 'unreachable' | 'unsafe_target';
      /** In words, for the courier's log; nothing of our own network. */
      error: string;
      durationMs: number;
    }
  | {
      /** Not sent: the address gets as many requests as it may, of all couriers and tenants together. */
      outcome: 'postponed';
      retryAfterMs: number;
      durationMs: number;
    };
