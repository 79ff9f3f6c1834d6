import type { Socket } from 'node:net';

export type UnreadLimits = {
  /** How long a reply may wait for its client to read more of it. */
  stalledMs: number;
  /** What replies may hold together; beyond it those that wait longest are cut, after `hurriedMs`. */
  bufferedBytes: number;
  overloadedStalledMs: number;
};

const LIMITS: UnreadLimits = {
  stalledMs: 30_000,
  bufferedBytes: 128 * 1024 * 1024,
  overloadedStalledMs: 3_000,
};
const CHECK_INTERVAL_MS = 1_000;

export type UnreadReplies = {
  responseStarted(socket: Socket): void;
  responseEnded(socket: Socket): void;
  /** The reply that the connection is getting holds this much memory until it has been read. */
  responseBuffered(socket: Socket, bytes: number): void;
  stop(): void;
};

type Reply = { bufferedBytes: number; sentBytes: number; sinceMs: number };

/**
 * Cuts connections whose client does not read its reply. A slow client is not cut: each slice of a reply that it takes
 * starts the time anew (platform/http/documents/sliced-replies.ts). A handler at work is not cut either: it has nothing to be read yet.
 */
export function closeUnreadConnections(
  onCut: (socket: Socket) => void,
  given: Partial<UnreadLimits> = {},
): UnreadReplies {
  const limits = { ...LIMITS, ...given };
  const replies = new Map<Socket, Reply>();
  let bufferedBytes = 0;
  const timer = setInterval(closeStalled, Math.min(CHECK_INTERVAL_MS, limits.stalledMs / 4)).unref();

  return {
    responseStarted: (socket) => {
      replies.set(socket, { bufferedBytes: 0, sentBytes: socket.bytesWritten, sinceMs: performance.now() });
    },
    responseEnded: (socket) => forget(socket),
    responseBuffered(socket, bytes) {
      const reply = replies.get(socket);
      if (!reply) return;
      reply.bufferedBytes += bytes;
      bufferedBytes += bytes;
      if (bufferedBytes > limits.bufferedBytes) closeStalled();
    },
    stop: () => clearInterval(timer),
  };

  function forget(socket: Socket): void {
    bufferedBytes -= replies.get(socket)?.bufferedBytes ?? 0;
    replies.delete(socket);
  }

  function closeStalled(): void {
    const nowMs = performance.now();
    for (const [socket, reply] of replies) {
      if (socket.writableLength > 0 && socket.bytesWritten === reply.sentBytes) continue;
      Object.assign(reply, { sentBytes: socket.bytesWritten, sinceMs: nowMs });
    }
    const byAge = [...replies].sort(([, a], [, b]) => a.sinceMs - b.sinceMs);
    for (const [socket, { sinceMs }] of byAge) {
      const allowedMs = bufferedBytes > limits.bufferedBytes ? limits.overloadedStalledMs : limits.stalledMs;
      if (nowMs - sinceMs < allowedMs) return;
      forget(socket);
      onCut(socket);
      socket.destroy();
    }
  }
}
