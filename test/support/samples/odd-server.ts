import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A server with responses that no fault of a network explains. The path begins with the name of a client and that of the response:
 * `after-<seconds>` and `after-date` ask to wait for long, `trickle` sends its first response a byte at a time, without an end, and
 * `redirect-<status>` leads to `elsewhere-<status>`.
 */
export type OddServer = {
  url: string;
  /** The number of requests whose path begins so. */
  requests(path: string): number;
  stop(): Promise<void>;
};

/** The id that `trickle` returns at last. */
export const ODD_ID = '01930a3e-7c1d-7e11-9c5a-2f4b8d6e0a03';

const ONE_HOUR_MS = 3_600_000;

export async function startOddServer(): Promise<OddServer> {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const [, client, name = ''] = request.url?.split('/') ?? [];
    const path = `${client}/${name}`;
    const count = (counts.get(path) ?? 0) + 1;
    counts.set(path, count);
    request.resume().on('end', () => {
      if (name.startsWith('redirect')) redirect(path, response);
      else answer(name, count, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // A server that listens on TCP has this kind of address.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: (path) => counts.get(path) ?? 0,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function redirect(path: string, response: ServerResponse): void {
  response
    .writeHead(Number(path.split('-').at(-1)), { location: `/${path.replace('redirect', 'elsewhere')}` })
    .end();
}

function answer(name: string, count: number, response: ServerResponse): void {
  if (name === 'trickle') {
    if (count === 1) trickle(response);
    else respond(response, 201, { data: { prealert_id: ODD_ID } });
    return;
  }
  const asked = name.slice('after-'.length);
  const retryAfter = asked === 'date' ? new Date(Date.now() + ONE_HOUR_MS).toUTCString() : asked;
  respond(response.setHeader('retry-after', retryAfter), 429, { code: 'too_many_attempts' });
}

function respond(response: ServerResponse, status: number, fields: object): void {
  const outcome = status < 300 ? 'success' : 'fail';
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ status: outcome, message: 'Done.', ...fields, timestamp: 1795249800 }));
}

/** Sends spaces, which JSON may begin with, until the client ends the connection. */
function trickle(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 100);
  response.on('close', () => clearInterval(timer));
}
