// Our own: Node's own limit counts all clients together, and Fastify has no limit per address.
import type { Server, Socket } from 'node:net';
import { networkOf } from '../values/network-address.js';

export type ConnectionLimit = {
  /** The maximum number of connections per client. An IPv6 /64 counts as one client. */
  perAddress: number;
  /** Returns true for trusted proxies, whose connections serve many clients. */
  isExempt(address: string): boolean;
  /** Called for the first refused connection of a client, and again only after the client has closed all connections. */
  onConnectionRefused(network: string): void;
};

/** Closes new connections of a client that has reached the limit. */
export function limitConnections(
  server: Server,
  { perAddress, isExempt, onConnectionRefused }: ConnectionLimit,
): void {
  const open = new Map<string, { count: number; isReported: boolean }>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    if (isExempt(address)) return;
    const network = networkOf(address);
    const client = open.get(network) ?? { count: 0, isReported: false };
    if (client.count >= perAddress) {
      if (!client.isReported) onConnectionRefused(network);
      client.isReported = true;
      socket.destroy();
      return;
    }
    client.count += 1;
    open.set(network, client);
    socket.once('close', () => {
      client.count -= 1;
      if (client.count === 0) open.delete(network);
    });
  });
}
