import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/**
 * Answers as a service does behind a broken network. The first part of the path names the failure, for example
 * `/one-hour/api/Prealert.php`.
 */
export type FailingService = {
  url: string;
  /** The idempotency keys of all attempts at one failure. */
  keys(failure: string): (string | undefined)[];
  stop(): Promise<void>;
};

type Failure = (attempt: number, response: ServerResponse) => void;

/** The id that the third attempt returns. */
const THIRD = '01930a3e-7c1d-7e11-9c5a-2f4b8d6e0a03';
const FILE = 'the whole file';

const twoFailures: Failure = (attempt, response) => {
  if (attempt === 1) response.destroy();
  else if (attempt === 2) answer(response, 503, { code: 'unavailable', message: 'Wait.' }, '0');
  else answer(response, 201, { data: { prealert_id: THIRD } });
};

const FAILURES: Record<string, Failure> = {
  'two-failures': twoFailures,
  // For a client with a hook.
  hooked: twoFailures,
  // The first of two requests of a batch is stored. The second one is refused.
  'second-batch': (attempt, response) => {
    if (attempt === 1) answer(response, 200, { data: createdBatch(250) });
    else answer(response, 403, { code: 'key_invalid', message: 'The key was replaced.' });
  },
  // Something on the way has cut the request at the end of a line.
  'cut-request': (_attempt, response) => answer(response, 200, { data: createdBatch(2) }),
  'one-hour': (_attempt, response) => {
    answer(response, 429, { code: 'too_many_attempts', message: 'Wait.' }, '3600');
  },
  html: (_attempt, response) => {
    response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>');
  },
  silence: () => undefined,
  'broken-file': (attempt, response) => {
    response.writeHead(200, { 'content-type': 'text/csv', 'content-length': FILE.length });
    if (attempt === 1) response.write(FILE.slice(0, 5), () => response.destroy());
    else response.end(FILE);
  },
};

function createdBatch(created: number): object {
  const results = Array.from({ length: created }, (_, index) => ({
    line: index + 1,
    status: 'created',
    message: 'Stored.',
    prealert_id: THIRD,
  }));
  return { total: created, created, results };
}

export async function startFailingService(): Promise<FailingService> {
  const seen = new Map<string, (string | undefined)[]>();
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const name = request.url?.split('/')[1] ?? '';
    const attempts = [...(seen.get(name) ?? []), request.headers['idempotency-key']?.toString()];
    seen.set(name, attempts);
    request.resume().on('end', () => FAILURES[name]?.(attempts.length, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // A server that listens on TCP has this kind of address.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys: (failure) => seen.get(failure) ?? [],
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function answer(response: ServerResponse, status: number, fields: object, retryAfter?: string): void {
  const outcome = status < 300 ? 'success' : 'fail';
  const body = { status: outcome, message: 'Done.', timestamp: 1795249800, request_id: 'failing', ...fields };
  const headers = {
    'content-type': 'application/json',
    ...(retryAfter ? { 'retry-after': retryAfter } : {}),
  };
  response.writeHead(status, headers).end(JSON.stringify(body));
}
