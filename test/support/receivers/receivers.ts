import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { TlsOptions } from 'node:tls';
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from 'node:net';
import { join } from 'node:path';
import { projectRoot } from '../../../src/config/project-root.js';

const servers: { server: Server | TcpServer; sockets: Set<Socket> }[] = [];

export const pem = (name: string) =>
  readFileSync(join(projectRoot, 'test', 'support', 'receivers', `${name}.pem`), 'utf8');

/** Stops all servers that a test has started. For afterEach. */
export async function closeReceivers(): Promise<void> {
  for (const { server, sockets } of servers.splice(0)) {
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, 'close');
  }
}

async function listen(server: Server | TcpServer, address = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)));
  });
  server.listen(0, address);
  await once(server, 'listening');
  servers.push({ server, sockets });
  // The server listens on a port, not on a path.
  return (server.address() as AddressInfo).port;
}

/** Starts a courier's server. */
export async function startReceiver(listener: RequestListener, address?: string) {
  const server = createServer(listener);
  const port = await listen(server, address);
  return { server, port, url: `http://127.0.0.1:${port}/hook` };
}

/** Starts a server with one of the certificates in this folder, which all have the same key. */
export async function startTlsReceiver(
  certificate: string,
  listener: RequestListener,
  tls: TlsOptions = {},
): Promise<number> {
  const options = { key: pem('localhost-key'), cert: pem(certificate), ...tls };
  return listen(createTlsServer(options, listener));
}

/** Starts a TCP server that calls the listener for each connection and keeps the open ones. */
export async function startWire(onConnection: (socket: Socket) => void) {
  const open = new Set<Socket>();
  const server = createTcpServer((socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    onConnection(socket);
  });
  const port = await listen(server);
  return { port, open, url: `http://127.0.0.1:${port}/hook` };
}

/** Responds with these bytes to the first data. */
export const answering = (bytes: string | Buffer) => (socket: Socket) =>
  void socket.once('data', () => socket.write(bytes));
