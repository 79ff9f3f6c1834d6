import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { TargetError } from './failures.js';
import { makeTurnsByTime } from './turns-by-time.js';

/**
 * What a server may send before the handshake is done, above all its certificates. Chains of public authorities have 2 to 8 KB. Each
 * signature of a chain is verified before anything else is known of the server, and the keys are its own: 100 KB, which OpenSSL takes, cost
 * 370 ms in one turn with 76 keys of RSA-3072 whose exponents are as long. 12 KB cost 45 ms with these, and 123 ms with 55 keys on the curve
 * sect571r1 (Node 20, 2026-11-30), which is why these sockets have a thread (threaded-client.ts).
 */
const MAX_HANDSHAKE_BYTES = 20 * 1024;

/**
 * What it may send later besides its response: new keys and tickets cost 9 microseconds for 27 bytes, and OpenSSL takes any number. A server that
 * sends its response in records of a few bytes does not want to be read. What waits to be read is part of it.
 */
const SPARE_BYTES = 256 * 1024;
const BYTES_PER_BYTE = 1.25;

/** More of one socket is processed in a turn of its own: 16 KB of new keys cost 5 ms, and a courier can have 32 sockets. */
const MAX_TOGETHER_BYTES = 1024;

const TOO_LONG = 'the server sent more than 20 KB before the TLS handshake was done';
const TOO_MUCH = 'the server sent far more in TLS than its response';

/** What servers send is processed one after another, other work runs between, and each host has as much time as another. */
const turns = makeTurnsByTime();

export type Handshake = {
  /** The socket as TLS sees it. */
  stream: Duplex;
  /** Begins to compare what arrives with what it contains. */
  end(secure: TLSSocket): void;
};

/** Bounds what the server of a socket can make this process compute for TLS. */
export function limitTls(socket: Socket, host: string): Handshake {
  let isDone = false;
  let isWaiting = false;
  let hasEnded = false;
  /** What has happened to the socket while a chunk waited. */
  const later: (() => void)[] = [];
  let bytes = 0;
  let maxBytes = MAX_HANDSHAKE_BYTES;
  const stream = new Duplex({
    // A chunk that waits for its turn must not be overtaken.
    read: () => void (isWaiting || socket.resume()),
    write: (chunk: Buffer, _encoding, callback) => void socket.write(chunk, callback),
    final: (callback) => void socket.end(callback),
    destroy(error, callback) {
      socket.destroy();
      callback(error);
    },
  });

  function give(chunk: Buffer): void {
    if (stream.destroyed) return;
    // If it is full, it calls `read` later.
    if (stream.push(chunk)) socket.resume();
    else socket.pause();
  }

  async function giveInTurn(chunk: Buffer): Promise<void> {
    isWaiting = true;
    socket.pause();
    await turns.take(host);
    isWaiting = false;
    give(chunk);
    for (const happened of later.splice(0)) happened();
  }

  /** The end of a socket comes after what it has sent. */
  function inOrder(happened: () => void): void {
    if (isWaiting) later.push(happened);
    else happened();
  }

  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes)
      stream.destroy(new TargetError('unreachable', 'tls_failed', isDone ? TOO_MUCH : TOO_LONG));
    else if (isDone && chunk.length <= MAX_TOGETHER_BYTES) give(chunk);
    else void giveInTurn(chunk);
  });
  socket.on('end', () => {
    hasEnded = true;
    inOrder(() => void stream.push(null));
  });
  socket.on('error', (error) => inOrder(() => void stream.destroy(error)));
  // After a clean end, what is not read yet is still read.
  socket.on('close', () => inOrder(() => void (hasEnded || stream.destroy())));
  return {
    stream,
    end(secure) {
      isDone = true;
      maxBytes = bytes + SPARE_BYTES;
      const push = secure.push.bind(secure);
      secure.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
        maxBytes += BYTES_PER_BYTE * (chunk?.length ?? 0);
        return push(chunk, encoding);
      };
    },
  };
}
