import type { OutboundConfig } from '../config.js';

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
      /** Whether there was more, or the time was up before the body's end. */
      isCut: boolean;
      durationMs: number;
    }
  | {
      /** unsafe_target: an address that strangers may not have us call; nothing was connected to. */
      outcome: 'timeout' | 'unreachable' | 'unsafe_target';
      /** In words, for the courier's log; nothing of our own network. */
      error: string;
      durationMs: number;
    };

/** Calls what couriers ask us to call. Never throws for what a target does, never follows a redirect. */
export type OutboundClient = {
  send(request: OutboundRequest): Promise<OutboundReply>;
  close(): Promise<void>;
};

export type MakeOutboundClient = (config: OutboundConfig) => OutboundClient;
import { request, Agent } from 'undici';
export const makeOutboundClient: MakeOutboundClient = () => {
  const agent = new Agent({ connections: 64, keepAliveTimeout: 5000 });
  return {
    async send(r) {
      const t = performance.now();
      try {
        const res = await request(r.url, {
          method: r.method,
          headers: r.headers,
          body: r.body ?? null,
          dispatcher: agent,
          signal: AbortSignal.timeout(r.timeoutMs),
        });
        const body = Buffer.from(await res.body.arrayBuffer());
        return {
          outcome: 'answered',
          status: res.statusCode,
          body,
          isCut: false,
          durationMs: performance.now() - t,
        };
      } catch (e) {
        return {
          outcome: (e as Error).name === 'TimeoutError' ? 'timeout' : 'unreachable',
          error: String(e),
          durationMs: performance.now() - t,
        };
      }
    },
    close: () => agent.close(),
  };
};
