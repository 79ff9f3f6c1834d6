// Our own: Node's socket timeout also cuts a connection while its handler works, and counts no bytes over all connections.
import type { Socket } from 'node:net';

export type UnreadLimits = {
  /** How long a reply may wait for its client to read more of it. */
  stalledMs: number;
  /** What replies may hold together; beyond it those that wait longest are cut, after `hurriedMs`. */
  heldBytes: number;
  hurriedMs: number;
};

const LIMITS: UnreadLimits = { stalledMs: 30_000, heldBytes: 128 * 1024 * 1024, hurriedMs: 3_000 };
const SWEEP_MS = 1_000;

export type UnreadReplies = {
  began(socket: Socket): void;
  ended(socket: Socket): void;
  /** The reply that the connection is getting holds this much memory until it has been read. */
  holds(socket: Socket, bytes: number): void;
  stop(): void;
};

type Reply = { heldBytes: number; sentBytes: number; sinceMs: number };

/**
 * Cuts connections whose client does not read its reply. A slow client is not cut: each slice of a reply that it takes
 * starts the time anew (platform/http/documents/sliced-replies.ts). A handler at work is not cut either: it has nothing to be read yet.
 */
export function watchUnread(
  onCut: (socket: Socket) => void,
  given: Partial<UnreadLimits> = {},
): UnreadReplies {
  const limits = { ...LIMITS, ...given };
  const replies = new Map<Socket, Reply>();
  let heldBytes = 0;
  const timer = setInterval(sweep, Math.min(SWEEP_MS, limits.stalledMs / 4)).unref();

  return {
    began: (socket) => {
      replies.set(socket, { heldBytes: 0, sentBytes: socket.bytesWritten, sinceMs: performance.now() });
    },
    ended: (socket) => forget(socket),
    holds(socket, bytes) {
      const reply = replies.get(socket);
      if (!reply) return;
      reply.heldBytes += bytes;
      heldBytes += bytes;
      if (heldBytes > limits.heldBytes) sweep();
    },
    stop: () => clearInterval(timer),
  };

  function forget(socket: Socket): void {
    heldBytes -= replies.get(socket)?.heldBytes ?? 0;
    replies.delete(socket);
  }

  function sweep(): void {
    const nowMs = performance.now();
    for (const [socket, reply] of replies) {
      if (socket.writableLength > 0 && socket.bytesWritten === reply.sentBytes) continue;
      Object.assign(reply, { sentBytes: socket.bytesWritten, sinceMs: nowMs });
    }
    const byAge = [...replies].sort(([, a], [, b]) => a.sinceMs - b.sinceMs);
    for (const [socket, { sinceMs }] of byAge) {
      const allowedMs = heldBytes > limits.heldBytes ? limits.hurriedMs : limits.stalledMs;
      if (nowMs - sinceMs < allowedMs) return;
      forget(socket);
      onCut(socket);
      socket.destroy();
    }
  }
}
