import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What the clients of PostgreSQL have sent. */
export type Sent = {
  /** Sync messages and simple queries. PostgreSQL responds to each of them at once. */
  roundTrips: number;
  /** Statements that PostgreSQL had to parse, because they were not prepared before. */
  parsed: number;
  executed: number;
};

/** A proxy in front of PostgreSQL that counts the messages of the clients. */
export type CountingProxy = {
  /** The same connection through the proxy. All URLs must lead to the same server. */
  through(url: string): string;
  /** Returns what was sent since the last call. */
  take(): Sent;
  stop(): Promise<void>;
};

/** More calls than PostgreSQL's generic plan needs. */
const CALLS = 8;

/**
 * Returns the least of each figure over several calls. The service itself also sends statements now and then, and opens connections.
 *
 * @param prepare is not counted; `run` gets its result
 */
export async function leastSent<Prepared>(
  proxy: CountingProxy,
  prepare: () => Promise<Prepared>,
  run: (prepared: Prepared) => Promise<unknown>,
): Promise<Sent> {
  const calls: Sent[] = [];
  for (let n = 0; n < CALLS; n += 1) {
    const prepared = await prepare();
    proxy.take();
    await run(prepared);
    calls.push(proxy.take());
  }
  const least = (key: keyof Sent) => Math.min(...calls.map((sent) => sent[key]));
  return { roundTrips: least('roundTrips'), parsed: least('parsed'), executed: least('executed') };
}

const NOTHING: Sent = { roundTrips: 0, parsed: 0, executed: 0 };
const COUNTED: Record<string, keyof Sent> = { S: 'roundTrips', Q: 'roundTrips', P: 'parsed', E: 'executed' };

export async function startCountingProxy(): Promise<CountingProxy> {
  let target = { host: '', port: 0 };
  let sent = { ...NOTHING };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target);
    const count = makeCounter((type) => {
      const counted = COUNTED[type];
      if (counted) sent[counted] += 1;
    });
    client.on('data', count);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true).pipe(other);
      socket.on('error', () => other.destroy());
      socket.on('close', () => sockets.delete(socket));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server has a port.
  const { port } = server.address() as AddressInfo;
  return {
    through(text) {
      const url = new URL(text);
      target = { host: url.hostname, port: Number(url.port) };
      return Object.assign(url, { hostname: '127.0.0.1', port: String(port) }).href;
    },
    take() {
      const taken = sent;
      sent = { ...NOTHING };
      return taken;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Returns a function that reads a client's bytes, and calls `found` with the type of each message after the first. */
function makeCounter(found: (type: string) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  // The first message has a length, but no type.
  let typeBytes = 0;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= typeBytes + 4) {
      const end = typeBytes + rest.readUInt32BE(typeBytes);
      if (rest.length < end) return;
      if (typeBytes > 0) found(rest.toString('latin1', 0, 1));
      rest = rest.subarray(end);
      typeBytes = 1;
    }
  };
}
