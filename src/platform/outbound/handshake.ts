import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { TargetError } from './failures.js';

/**
 * What a server may send before the handshake is done, above all its certificates. Chains of public authorities have 2 to 8 KB. Each
 * signature of a chain is verified before anything else is known of the server, and the keys are its own: 100 KB, which OpenSSL takes, cost
 * 370 ms in one turn with 76 keys of RSA-3072 whose exponents are as long, 12 KB about 45 ms (Node 20, 2026-11-30).
 */
const MAX_HANDSHAKE_BYTES = 12 * 1024;

const TOO_LONG = 'the server sent more than 12 KB before the TLS handshake was done';

let last: Promise<unknown> = Promise.resolve();

/** What servers send to handshakes is processed one after another, and other work runs between them. */
function takeTurn(): Promise<unknown> {
  last = last.then(() => turn());
  return last;
}

export type Handshake = {
  /** The socket as TLS sees it. */
  stream: Duplex;
  /** Removes the limits. */
  end(): void;
};

/** Bounds what the handshake of a socket can make this process compute. */
export function limitHandshake(socket: Socket): Handshake {
  let isDone = false;
  let bytes = 0;
  const stream = new Duplex({
    read: () => void socket.resume(),
    write: (chunk: Buffer, _encoding, callback) => void socket.write(chunk, callback),
    final: (callback) => void socket.end(callback),
    destroy(error, callback) {
      socket.destroy();
      callback(error);
    },
  });

  function give(chunk: Buffer): void {
    if (!stream.destroyed && !stream.push(chunk)) socket.pause();
  }

  /** A pause keeps the chunks in their order. */
  async function giveInTurn(chunk: Buffer): Promise<void> {
    bytes += chunk.length;
    if (bytes > MAX_HANDSHAKE_BYTES) {
      stream.destroy(new TargetError('unreachable', 'tls_failed', TOO_LONG));
      return;
    }
    socket.pause();
    await takeTurn();
    socket.resume();
    give(chunk);
  }

  socket.on('data', (chunk: Buffer) => {
    if (isDone) give(chunk);
    else void giveInTurn(chunk);
  });
  socket.on('end', () => void stream.push(null));
  socket.on('error', (error) => void stream.destroy(error));
  socket.on('close', () => void stream.destroy());
  return {
    stream,
    end() {
      isDone = true;
    },
  };
}
