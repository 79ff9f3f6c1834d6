// Our own: neither Node nor Fastify limits pipelined requests. Node's own limit counts all requests of a connection.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { onClosed } from '../../concurrency/when-closed.js';

export type Dispatch = (request: IncomingMessage, response: ServerResponse) => void;

type PipeliningLimits = {
  /** The maximum number of waiting requests per connection. */
  perConnection: number;
  /** The maximum over all connections. A waiting request needs about 1.5 KiB. */
  total: number;
};

const LIMITS: PipeliningLimits = { perConnection: 100, total: 10_000 };

export type Watcher = {
  /** A request of the connection is being handled. */
  responseStarted(socket: Socket): void;
  /** Its response has been sent, or the connection has closed. */
  responseEnded(socket: Socket): void;
  /** The connection exceeded the limit and is closed. */
  overflowed(socket: Socket): void;
};

type Exchange = { request: IncomingMessage; response: ServerResponse };
type ConnectionQueue = { current: Exchange | undefined; waiting: Exchange[]; end?: () => void };

/** Whether the response ends the connection. */
const isLast = ({ response }: Exchange): boolean =>
  !response.shouldKeepAlive || /\bclose\b/i.test(String(response.getHeader('connection') ?? ''));

/**
 * Handles the pipelined requests of a connection one at a time. Node handles all of them concurrently and buffers each
 * response until the earlier ones have been read: a client that never reads could make it buffer 20 responses.
 *
 * While a request waits, the connection is paused, so that TCP flow control slows the sender. One packet may still contain
 * more requests than the limit; then the connection is closed.
 */
export function limitPipelining(handle: Dispatch, watcher: Watcher, limits = LIMITS) {
  const queues = new WeakMap<Socket, ConnectionQueue>();
  let totalWaiting = 0;

  return {
    dispatch(request: IncomingMessage, response: ServerResponse): void {
      const { socket } = request;
      if (socket.destroyed) return;
      const queue = queues.get(socket) ?? open(socket);
      if (!queue.current) handleRequest(socket, queue, { request, response });
      else if (queue.waiting.length >= limits.perConnection || totalWaiting >= limits.total)
        closeOverflowed(socket);
      else wait(socket, queue, { request, response });
    },

    /** Calls `end`, which closes the connection, after the responses to earlier requests. */
    endAfterReplies(socket: Socket, end: () => void): void {
      const queue = queues.get(socket);
      if (!queue?.current) {
        end();
        return;
      }
      const { request, response } = queue.current;
      if (request.complete) {
        queue.end ??= end;
        socket.pause();
      } else if (response.headersSent) socket.destroy();
      else end();
    },
  };

  function open(socket: Socket): ConnectionQueue {
    const queue: ConnectionQueue = { current: undefined, waiting: [] };
    queues.set(socket, queue);
    socket.once('close', () => (totalWaiting -= queue.waiting.splice(0).length));
    return queue;
  }

  function wait(socket: Socket, queue: ConnectionQueue, exchange: Exchange): void {
    queue.waiting.push(exchange);
    totalWaiting += 1;
    socket.pause();
  }

  function closeOverflowed(socket: Socket): void {
    watcher.overflowed(socket);
    socket.destroy();
  }

  function handleRequest(socket: Socket, queue: ConnectionQueue, exchange: Exchange): void {
    queue.current = exchange;
    watcher.responseStarted(socket);
    onClosed(exchange.response, () => {
      queue.current = undefined;
      watcher.responseEnded(socket);
      if (socket.destroyed) return;
      // Nothing that follows the last request of a connection is executed (RFC 9112, 9.6).
      if (isLast(exchange)) totalWaiting -= queue.waiting.splice(0).length;
      handleNext(socket, queue);
    });
    handle(exchange.request, exchange.response);
  }

  function handleNext(socket: Socket, queue: ConnectionQueue): void {
    const next = queue.waiting.shift();
    if (!next) {
      queue.end?.();
      return;
    }
    totalWaiting -= 1;
    // The last request may have a body that has not been read yet.
    if (queue.waiting.length === 0) socket.resume();
    handleRequest(socket, queue, next);
  }
}
