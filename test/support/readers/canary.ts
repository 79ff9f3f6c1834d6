import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** Listens on every address of this machine, of both families, and hangs up on whoever comes. */
export type Canary = {
  port: number;
  /** How often it was connected to. */
  visits(): number;
  /** How many connections this process began, to anywhere. */
  begun(): number;
  stop(): Promise<void>;
};

export async function startCanary(): Promise<Canary> {
  let visits = 0;
  let begun = 0;
  const server = createServer((socket) => {
    visits += 1;
    socket.on('error', () => {}).destroy();
  }).listen(0, '::');
  await once(server, 'listening');
  const count = () => void (begun += 1);
  subscribe('net.client.socket', count);
  return {
    // as: it listens on a port, not on a path
    port: (server.address() as AddressInfo).port,
    visits: () => visits,
    begun: () => begun,
    async stop() {
      unsubscribe('net.client.socket', count);
      server.close();
      await once(server, 'close');
    },
  };
}
