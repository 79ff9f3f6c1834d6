// Our own: Node's own limit counts all clients together, and Fastify has no limit per address.
import type { Server, Socket } from 'node:net';
import { networkOf } from '../../values/network-address.js';

export type ConnectionLimit = {
  /** Connections that one client may have; an IPv6 client is its /64. */
  perAddress: number;
  /** Our proxies, whose connections are those of many clients. */
  isExempt(address: string): boolean;
  /** Told of the first refusal, until the client has closed all. */
  onRefusal(network: string): void;
};

/** Closes connections of a client that has as many as it may have. */
export function limitConnections(server: Server, { perAddress, isExempt, onRefusal }: ConnectionLimit): void {
  const open = new Map<string, { count: number; isReported: boolean }>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    if (isExempt(address)) return;
    const network = networkOf(address);
    const client = open.get(network) ?? { count: 0, isReported: false };
    if (client.count >= perAddress) {
      if (!client.isReported) onRefusal(network);
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
