// Our own: Node's own limit counts all clients together, and Fastify has no limit per address.
import type { Server, Socket } from 'node:net';
import type { Allotment, SharedLimits } from './shared/shared-limits.js';
import { isOfOneSubscriber, networkOf, networksOf } from '../values/network-address.js';

export type ConnectionLimit = {
  connections: Connections;
  /** Returns true for trusted proxies, whose connections serve many clients. */
  isExempt(address: string): boolean;
  /** Called for the first refused connection of a client, and again only after the client has closed all connections. */
  onConnectionRefused(network: string): void;
};

/** The connections of each client, and of the wider networks that contain it. An IPv6 /64 counts as one client. */
export type Connections = {
  /** The most of one client. */
  perClient: number;
  /** Counts one. Returns the function that gives it back, or undefined if it would be too many. */
  take(address: string): Promise<(() => void) | undefined>;
};

/** A line of IPv6 has 256 networks, and a site has 65,536. */
const LINE_FACTOR = 4;
const BLOCK_FACTOR = 16;

/** @param perClient the most of one client */
export function openConnections(limits: SharedLimits, perClient: number): Connections {
  const open = (name: string, perHolder: number): Allotment => limits.allotment(name, { perHolder });
  const ofClient = open('connections', perClient);
  const ofLine = open('connections of a line', perClient * LINE_FACTOR);
  const ofBlock = open('connections of a block', perClient * BLOCK_FACTOR);
  return {
    perClient,
    async take(address) {
      const networks = networksOf(address);
      const wider: [Allotment, string][] = [
        [ofLine, networks.line],
        [ofBlock, networks.block],
      ];
      const taken: (() => void)[] = [];
      const giveBack = () => {
        for (const give of taken.splice(0)) give();
      };
      const all: typeof wider = [[ofClient, networks.network], ...(isOfOneSubscriber(networks) ? wider : [])];
      for (const [allotment, name] of all) {
        const holder = { name, tenant: '' };
        if (!(await allotment.take(holder, 1))) {
          giveBack();
          return undefined;
        }
        taken.push(() => allotment.give(holder, 1));
      }
      return giveBack;
    },
  };
}

/**
 * Closes new connections of a client that has reached the limit. A process never has more than that of it, because it refuses further
 * ones at once. In a server of several processes the primary one counts: until its answer arrives, a client may have as many in each process.
 */
export function limitConnections(
  server: Server,
  { connections, isExempt, onConnectionRefused }: ConnectionLimit,
): void {
  const open = new Map<string, Client>();

  async function admit(socket: Socket, address: string, client: Client): Promise<void> {
    const giveBack = client.sockets <= connections.perClient ? await connections.take(address) : undefined;
    if (giveBack && socket.destroyed) giveBack();
    else if (giveBack) socket.once('close', giveBack);
    if (giveBack) return;
    if (!client.isReported) onConnectionRefused(networkOf(address));
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
    void admit(socket, address, client);
  });
}

type Client = { sockets: number; isReported: boolean };
