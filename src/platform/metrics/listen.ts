import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { ConfigError } from '../../config/config.js';
import { limitPipelining } from '../http/connections/pipelining.js';
import { closeUnreadConnections } from '../http/connections/unread-replies.js';
import { METRICS_TYPE, type Metrics } from './metrics.js';

export type Listener = {
  /** The one that was free, where 0 was asked for. */
  port: number;
  close(): Promise<void>;
};

type Address = { host: string; port: number };
type Page = { type: string; read(): string | Promise<string> };

/**
 * Serves the metrics, and whether the process is alive, on a port of their own: they are the operator's, and neither
 * tenants' nor strangers' to read.
 *
 * @throws ConfigError when it cannot listen there
 */
export async function listenForScrapes(
  { host, port }: Address,
  metrics: Pick<Metrics, 'render'>,
): Promise<Listener> {
  const pages = new Map<string | undefined, Page>([
    ['/metrics', { type: METRICS_TYPE, read: () => metrics.render() }],
    ['/health', { type: 'text/plain; charset=utf-8', read: () => 'ok\n' }],
  ]);
  const unread = closeUnreadConnections(() => {});
  const turns = limitPipelining(
    (request, response) => {
      const page = pages.get(request.url?.split('?')[0]);
      // the reason may be told: whoever asks here operates the service
      answer(page, request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
    },
    { ...unread, overflowed: () => {} },
  );
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 10_000 }, turns.dispatch);
  server.listen({ host, port });
  await once(server, 'listening').catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([
      `Cannot serve metrics on ${host}:${port}: ${reason}. Set METRICS_HOST or METRICS_PORT.`,
    ]);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : port,
    async close() {
      unread.stop();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function answer(
  page: Page | undefined,
  { method }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!page) {
    response.writeHead(404).end();
    return;
  }
  if (method !== 'GET') {
    response.writeHead(405, { allow: 'GET' }).end();
    return;
  }
  const text = await page.read();
  response.writeHead(200, { 'content-type': page.type, 'content-length': Buffer.byteLength(text) }).end(text);
}
