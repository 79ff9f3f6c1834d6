import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { findProgram } from '../harness/programs.js';
import { freePort, makeFolder, runProgram, statusOf, until } from '../service/processes.js';

/** A load balancer in front of the replicas. */
export type Proxy = {
  url: string;
  name: string;
  /** Replaces its files by those of a version, as an operator does: a second process takes over the port. */
  reload(version: string): Promise<void>;
  stop(): Promise<void>;
};

const HAPROXY = findProgram('haproxy');

/**
 * Starts haproxy with the files of deploy/proxy, or a small proxy with the same behaviour where haproxy is not installed.
 *
 * @param version the folder of the version whose files it uses
 */
export async function startProxy(ports: number[], version = projectRoot): Promise<Proxy> {
  const proxy = HAPROXY ? await startHaproxy(HAPROXY, ports, version) : await startOwnProxy(ports, version);
  await until(async () => (await statusOf(`${proxy.url}/ready`)) === 200);
  return proxy;
}

/**
 * Runs haproxy as the unit of Debian does: a master that starts another worker at each reload and hands it the open ports. Two processes
 * without a master (`-sf`) would not do: haproxy 2.6 crashes when it pauses the abstract socket for the new one.
 */
async function startHaproxy(program: string, ports: number[], version: string): Promise<Proxy> {
  const port = await freePort();
  const file = join(await makeFolder(), 'haproxy.cfg');
  writeFileSync(file, haproxyConfig(version, port, ports));
  const running = runProgram(program, ['-W', '-f', file], {
    PATH: process.env['PATH'],
    // It belongs to the whole machine, where other tests run too.
    UNAVAILABLE_SOCKET: `crossdock-${port}`,
  });
  // The master loses a signal that arrives before it has taken charge of its signals, and a worker answers earlier.
  await until(() => Promise.resolve(running.output().includes('Loading success')));
  let reloads = 0;
  return {
    url: `http://127.0.0.1:${port}`,
    name: 'haproxy',
    async reload(files) {
      reloads += 1;
      writeFileSync(file, haproxyConfig(files, port, ports));
      running.child.kill('SIGUSR2');
      const ends = () => running.output().match(/Former worker .*/g) ?? [];
      await until(() => Promise.resolve(ends().length === reloads));
      // A worker that crashed would also have gone.
      expect(ends().at(-1)).toMatch(/exited with code 0/);
    },
    async stop() {
      running.child.kill('SIGTERM');
      await running.ended;
    },
  };
}

/** Returns the files of a version as one, without TLS and without limits per address. */
function haproxyConfig(version: string, port: number, ports: number[]): string {
  const frontend = `frontend rehearsal
  bind 127.0.0.1:${port}
  http-request set-header X-Forwarded-Proto https
  http-request set-header X-Forwarded-For %[src]
  http-request set-header X-Proxy-Request-Id %[uuid()]
  default_backend api
`;
  const shared = sectionsOf(version, '10-frontend.cfg');
  const backend = sectionsOf(version, '20-host.cfg')['backend api'] ?? '';
  const servers = ports.map((each) => `  server api-${each} 127.0.0.1:${each}\n`);
  return [
    shared['defaults'],
    frontend,
    backend.replace(/^ +server api-.*\n/gm, ''),
    ...servers,
    // Earlier releases have none.
    shared['frontend unavailable'],
  ].join('');
}

/** Returns the sections of a file of deploy/proxy by their titles, without the comments between them. */
function sectionsOf(version: string, name: string): Partial<Record<string, string>> {
  const text = readFileSync(join(version, 'deploy', 'proxy', name), 'utf8').replace(/^#.*\n/gm, '');
  return Object.fromEntries(
    text.split(/^(?=\S)/m).map((section) => [section.slice(0, section.indexOf('\n')), section]),
  );
}

type Replica = { port: number; isReady: boolean };

/** The load logs in before it starts, so the operations that ignore the header are left out. */
const mayRepeat = ({ method = '', headers }: IncomingMessage): boolean =>
  ['GET', 'HEAD', 'OPTIONS'].includes(method) || headers['idempotency-key'] !== undefined;

/** Whether haproxy repeats any request after 503 with the files of this version, as those of earlier releases say. */
const repeatsAll = (version: string): boolean =>
  !(sectionsOf(version, '20-host.cfg')['backend api'] ?? '').includes('disable-l7-retry');

/** A proxy that asks /ready each second, and asks another replica after a refused connection, and after 503 if haproxy would. */
async function startOwnProxy(ports: number[], version: string): Promise<Proxy> {
  let isAnyRepeated = repeatsAll(version);
  const replicas: Replica[] = ports.map((port) => ({ port, isReady: false }));
  const agent = new Agent({ keepAlive: true, maxSockets: 128 });
  let next = 0;
  // As long as haproxy's. Node's five seconds would close connections of the pause's peak while the load uses them again.
  const server = createServer({ keepAliveTimeout: 30_000 }, (asked, response) => void relay(asked, response));
  const checks = { isOver: false };
  const checking = (async () => {
    while (!checks.isOver) {
      for (const each of replicas)
        each.isReady = (await statusOf(`http://127.0.0.1:${each.port}/ready`)) === 200;
      await sleep(250);
    }
  })();

  async function relay(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    // A request without an encoding yields buffers.
    for await (const chunk of asked) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const ready = replicas.filter(({ isReady }) => isReady);
    const order = (ready.length > 0 ? ready : replicas).map(
      (_, index, all) => all[(next + index) % all.length] as Replica,
    );
    next += 1;
    for (const [index, { port }] of order.entries()) {
      const reply = await forward(port, asked, body).catch(() => undefined);
      const isLast = index === order.length - 1;
      const isRepeatable = !reply || (reply.status === 503 && (isAnyRepeated || mayRepeat(asked)));
      if (isRepeatable && !isLast) continue;
      response.writeHead(reply?.status ?? 503, reply?.headers ?? {}).end(reply?.body ?? '');
      return;
    }
  }

  /** Rejects only if the replica has not read the request: its connection was refused. */
  function forward(port: number, asked: IncomingMessage, body: Buffer) {
    return new Promise<{ status: number; headers: IncomingMessage['headers']; body: Buffer }>(
      (resolve, reject) => {
        const headers = { ...asked.headers, 'x-forwarded-proto': 'https', 'x-forwarded-for': '127.0.0.1' };
        const { method = 'GET', url = '/' } = asked;
        const sent = request({ host: '127.0.0.1', port, method, path: url, headers, agent }, (reply) => {
          const parts: Buffer[] = [];
          reply.on('data', (part: Buffer) => parts.push(part));
          reply.on('end', () => {
            const { connection: _connection, 'transfer-encoding': _encoding, ...kept } = reply.headers;
            resolve({ status: reply.statusCode ?? 502, headers: kept, body: Buffer.concat(parts) });
          });
        });
        sent.on('error', (error: NodeJS.ErrnoException) => {
          if (error.code === 'ECONNREFUSED') reject(error);
          else resolve({ status: 502, headers: {}, body: Buffer.from(error.message) });
        });
        sent.end(body);
      },
    );
  }

  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${port}`,
    name: 'a proxy of Node',
    reload(files) {
      isAnyRepeated = repeatsAll(files);
      return Promise.resolve();
    },
    async stop() {
      checks.isOver = true;
      await checking;
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
