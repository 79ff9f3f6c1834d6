import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { openSocket, receive, type RawReply } from '../service/wire.js';

export type HeldBody = { path: string; headers: Record<string, string>; body: Buffer };

/** A request of which the last byte is missing. */
export type HeldRequest = {
  reply: Promise<RawReply | undefined>;
  /** Sends the last byte. */
  end(): Promise<void>;
  leave(): void;
};

/** Sends a request without its last byte, on a connection of its own. */
export async function holdBody(url: string, { path, headers, body }: HeldBody): Promise<HeldRequest> {
  const socket: Socket = await openSocket(url);
  const reply = receive(socket).then(([first]) => first);
  const lines = Object.entries({
    host: '127.0.0.1',
    connection: 'close',
    'content-length': String(body.length),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  // The end of the connection is seen by the reply.
  socket.on('error', () => undefined);
  const send = (bytes: Buffer) =>
    new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
      socket.write(bytes, () => resolve());
    });
  await send(body.subarray(0, -1));
  return { reply, end: () => send(body.subarray(-1)), leave: () => socket.destroy() };
}

/** Whether the server has read everything that its connections have received. */
export function hasReadAll(url: string): boolean {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0');
  // Columns: number, local address, remote address, state, bytes to send and bytes to read.
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local]) => local?.endsWith(`:${port}`))
    .every(([, , , , bytes]) => bytes?.endsWith(':00000000'));
}
