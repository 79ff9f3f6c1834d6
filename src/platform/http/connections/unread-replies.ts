// Our own: Node's socket timeout also cuts a connection while its handler works, and counts no bytes over all connections.
import type { Socket } from 'node:net';

export type UnreadLimits = {
  /** How long a response may make no progress. */
  stalledMs: number;
  /** Maximum size of all buffered responses. Above it, stalled connections are closed after `overloadedStalledMs`, oldest first. */
  bufferedBytes: number;
  overloadedStalledMs: number;
};

const LIMITS: UnreadLimits = {
  stalledMs: 30_000,
  bufferedBytes: 128 * 1024 * 1024,
  overloadedStalledMs: 3_000,
};
const CHECK_INTERVAL_MS = 1_000;

export type UnreadReplies = ReturnType<typeof closeUnreadConnections>;

type PendingResponse = { bufferedBytes: number; sentBytes: number; sinceMs: number };

/**
 * Closes connections whose client does not read its response. Each slice that a slow client reads restarts the timeout
 * (platform/http/documents/sliced-replies.ts). The timeout does not run while a handler has sent nothing yet.
 */
export function closeUnreadConnections(onClose: (socket: Socket) => void, given: Partial<UnreadLimits> = {}) {
  const limits = { ...LIMITS, ...given };
  const responses = new Map<Socket, PendingResponse>();
  let bufferedBytes = 0;
  const timer = setInterval(closeStalled, Math.min(CHECK_INTERVAL_MS, limits.stalledMs / 4)).unref();

  return {
    responseStarted: (socket: Socket): void => {
      responses.set(socket, { bufferedBytes: 0, sentBytes: socket.bytesWritten, sinceMs: performance.now() });
    },
    responseEnded: (socket: Socket): void => remove(socket),
    /** The connection's response needs this much memory until the client has read it. */
    responseBuffered(socket: Socket, bytes: number): void {
      const response = responses.get(socket);
      if (!response) return;
      response.bufferedBytes += bytes;
      bufferedBytes += bytes;
      if (bufferedBytes > limits.bufferedBytes) closeStalled();
    },
    stop: (): void => clearInterval(timer),
  };

  function remove(socket: Socket): void {
    bufferedBytes -= responses.get(socket)?.bufferedBytes ?? 0;
    responses.delete(socket);
  }

  function closeStalled(): void {
    const nowMs = performance.now();
    for (const [socket, response] of responses) {
      if (socket.writableLength > 0 && socket.bytesWritten === response.sentBytes) continue;
      Object.assign(response, { sentBytes: socket.bytesWritten, sinceMs: nowMs });
    }
    const byAge = [...responses].sort(([, a], [, b]) => a.sinceMs - b.sinceMs);
    for (const [socket, { sinceMs }] of byAge) {
      const allowedMs = bufferedBytes > limits.bufferedBytes ? limits.overloadedStalledMs : limits.stalledMs;
      if (nowMs - sinceMs < allowedMs) return;
      remove(socket);
      onClose(socket);
      socket.destroy();
    }
  }
}
