// Our own: neither Node nor Fastify limits pipelined requests. Node's own limit counts all requests of a connection.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export type Dispatch = (request: IncomingMessage, response: ServerResponse) => void;

export type PipeliningLimits = {
  /** Requests of one connection that may wait behind the one that is being answered. */
  perConnection: number;
  /** The same over all connections; a waiting request takes about 1.5 KiB. */
  together: number;
};

const LIMITS: PipeliningLimits = { perConnection: 100, together: 10_000 };

export type Watcher = {
  /** A connection has a request to answer. */
  began(socket: Socket): void;
  /** Its reply has left the process, or the connection has ended. */
  ended(socket: Socket): void;
  /** The connection sent more requests than may wait, and is cut. */
  overran(socket: Socket): void;
};

export type Turns = {
  dispatch: Dispatch;
  /** Does what ends a connection, after the replies to the requests before it. */
  endAfterReplies(socket: Socket, end: () => void): void;
};

type Exchange = { request: IncomingMessage; response: ServerResponse };
type Line = { current: Exchange | undefined; waiting: Exchange[]; end?: () => void };

/**
 * Answers the requests of a connection one after the other. Node starts all that arrive together at once, and keeps
 * every reply until those before it have been read: a client that never reads had 20 replies made and held.
 *
 * While a request waits, the connection is not read, so that TCP slows an honest sender down. One packet may hold more
 * requests than may wait all the same: then the connection is cut.
 */
export function limitPipelining(handle: Dispatch, watcher: Watcher, limits = LIMITS): Turns {
  const lines = new WeakMap<Socket, Line>();
  let together = 0;

  return {
    dispatch(request, response) {
      const { socket } = request;
      if (socket.destroyed) return;
      const line = lines.get(socket) ?? open(socket);
      if (!line.current) begin(socket, line, { request, response });
      else if (line.waiting.length >= limits.perConnection || together >= limits.together) overrun(socket);
      else wait(socket, line, { request, response });
    },

    endAfterReplies(socket, end) {
      const line = lines.get(socket);
      if (!line?.current) {
        end();
        return;
      }
      const { request, response } = line.current;
      if (request.complete) {
        line.end ??= end;
        socket.pause();
      } else if (response.headersSent) socket.destroy();
      else end();
    },
  };

  function open(socket: Socket): Line {
    const line: Line = { current: undefined, waiting: [] };
    lines.set(socket, line);
    socket.once('close', () => (together -= line.waiting.splice(0).length));
    return line;
  }

  function wait(socket: Socket, line: Line, exchange: Exchange): void {
    line.waiting.push(exchange);
    together += 1;
    socket.pause();
  }

  function overrun(socket: Socket): void {
    watcher.overran(socket);
    socket.destroy();
  }

  function begin(socket: Socket, line: Line, exchange: Exchange): void {
    line.current = exchange;
    watcher.began(socket);
    exchange.response.once('close', () => {
      line.current = undefined;
      watcher.ended(socket);
      if (!socket.destroyed) beginNext(socket, line);
    });
    handle(exchange.request, exchange.response);
  }

  function beginNext(socket: Socket, line: Line): void {
    const next = line.waiting.shift();
    if (!next) {
      line.end?.();
      return;
    }
    together -= 1;
    // the last one may have a body that has yet to be read
    if (line.waiting.length === 0) socket.resume();
    begin(socket, line, next);
  }
}
