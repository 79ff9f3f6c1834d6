import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** Listens on every address of this machine, IPv4 and IPv6, and closes each connection at once. */
export type Canary = {
  port: number;
  /** The number of connections to the canary. */
  visits(): number;
  /** The number of connections that this process started, to any address. */
  started(): number;
  stop(): Promise<void>;
};

export async function startCanary(): Promise<Canary> {
  let visits = 0;
  let started = 0;
  const server = createServer((socket) => {
    visits += 1;
    socket.on('error', () => {}).destroy();
  }).listen(0, '::');
  await once(server, 'listening');
  const count = () => void (started += 1);
  subscribe('net.client.socket', count);
  return {
    // The server listens on a port, not on a path.
    port: (server.address() as AddressInfo).port,
    visits: () => visits,
    started: () => started,
    async stop() {
      unsubscribe('net.client.socket', count);
      server.close();
      await once(server, 'close');
    },
  };
}
