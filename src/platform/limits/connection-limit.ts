// Our own: Node's own limit counts all clients together, and Fastify has no limit per address.
import type { Server, Socket } from 'node:net';
import type { Allotment } from './shared/shared-limits.js';
import { networkOf } from '../values/network-address.js';

export type ConnectionLimit = {
  /** The connections of each client. An IPv6 /64 counts as one client. */
  connections: Allotment;
  /** The most of one client. */
  perClient: number;
  /** Returns true for trusted proxies, whose connections serve many clients. */
  isExempt(address: string): boolean;
  /** Called for the first refused connection of a client, and again only after the client has closed all connections. */
  onConnectionRefused(network: string): void;
};

/**
 * Closes new connections of a client that has reached the limit. A process never has more than `perClient` of it, because it refuses further
 * ones at once. In a server of several processes the primary one counts: until its answer arrives, a client may have as many in each process.
 */
export function limitConnections(
  server: Server,
  { connections, perClient, isExempt, onConnectionRefused }: ConnectionLimit,
): void {
  const open = new Map<string, Client>();

  async function admit(socket: Socket, network: string, client: Client): Promise<void> {
    const holder = { name: network, tenant: '' };
    const isAdmitted = client.sockets <= perClient && (await connections.take(holder, 1));
    const giveBack = () => isAdmitted && connections.give(holder, 1);
    if (socket.destroyed) giveBack();
    else socket.once('close', giveBack);
    if (isAdmitted) return;
    if (!client.isReported) onConnectionRefused(network);
    client.isReported = true;
    socket.destroy();
  }

  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    if (isExempt(address)) return;
    const network = networkOf(address);
    const client = open.get(network) ?? { sockets: 0, isReported: false };
    client.sockets += 1;
    open.set(network, client);
    socket.once('close', () => {
      client.sockets -= 1;
      if (client.sockets === 0) open.delete(network);
    });
    void admit(socket, network, client);
  });
}

type Client = { sockets: number; isReported: boolean };
