import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { DatabaseServer } from './installation.js';

/** One address of a database whose server changes, as a virtual IP address or a proxy provides it. */
export type DatabaseAddress = {
  /** Returns the URL of a database at this address. */
  urlOf: DatabaseServer['urlOf'];
  /** Closes all connections, and leads new ones to this server. Without one, they are refused. */
  leadTo(server: DatabaseServer | undefined): void;
  close(): Promise<void>;
};

/** Opens an address that leads to this server. All servers have the same logins. */
export async function openAddress(first: DatabaseServer): Promise<DatabaseAddress> {
  const sockets = new Set<Socket>();
  let target: URL | undefined = new URL(first.urlOf('postgres'));
  const listener = createServer((near) => {
    if (!target) {
      near.resetAndDestroy();
      return;
    }
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) socket.on('error', () => undefined);
    near.pipe(far);
    far.pipe(near);
    near.on('close', () => {
      sockets.delete(near);
      far.destroy();
    });
    far.on('close', () => near.destroy());
    sockets.add(near);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  // It listens on TCP.
  const { port } = listener.address() as AddressInfo;
  const reset = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    urlOf: (database, login) =>
      Object.assign(new URL(first.urlOf(database, login)), { port: String(port) }).href,
    leadTo(server) {
      target = server && new URL(server.urlOf('postgres'));
      reset();
    },
    async close() {
      reset();
      listener.close();
      await once(listener, 'close');
    },
  };
}
