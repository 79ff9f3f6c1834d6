import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEMO } from '../../../fixtures/demo/demo.js';
import type { RawReply } from '../../support/service/wire.js';
import type { Service } from '../../support/service/service.js';
import { serviceTokenOf } from '../../support/service/principals.js';
import { SERVICE_TOKENS, TOKEN_OF_CLIENT, type FuzzCaller, type FuzzRequest } from './requests.js';

// longer than any response should take
const HANG_MS = 20_000;

export type FuzzClient = { send(request: FuzzRequest): Promise<RawReply>; close(): void };

/** Sends requests unchanged; @throws when no response arrives. */
export async function makeFuzzClient(service: Service): Promise<FuzzClient> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const tokens = new Map<FuzzCaller, string>();
  for (const [caller, { as, scopes }] of Object.entries(SERVICE_TOKENS))
    // The keys of the table are callers.
    tokens.set(caller as FuzzCaller, await serviceTokenOf(service, as, scopes, TOKEN_OF_CLIENT));
  return {
    async send(request) {
      const headers = mergeHeaders(await credentialOf(service, tokens, request.caller), request.headers);
      return retryWhileBusy(() => exchange(service.url, agent, request, headers));
    },
    close: () => agent.destroy(),
  };
}

/**
 * Retries 503. On a busy machine a connection may not become free in time; this status is declared and
 * nothing was changed.
 */
async function retryWhileBusy(send: () => Promise<RawReply>, triesLeft = 5): Promise<RawReply> {
  const reply = await send();
  if (reply.status !== 503 || triesLeft === 0) return reply;
  await sleep(200);
  return retryWhileBusy(send, triesLeft - 1);
}

async function credentialOf(
  service: Service,
  tokens: Map<FuzzCaller, string>,
  caller: FuzzCaller,
): Promise<[string, string][]> {
  if (caller === 'nobody') return [];
  const isOfTwo = caller.startsWith('two/') || caller.endsWith(' TWO');
  const host: [string, string][] = isOfTwo ? [['host', DEMO.hosts.two]] : [];
  // The callers with a key are named after their courier.
  const key = caller.startsWith('key ') && DEMO.apiKeys[caller.slice(4) as keyof typeof DEMO.apiKeys];
  if (key) return [...host, ['x-api-key', key]];
  return [...host, ['authorization', `Bearer ${tokens.get(caller) ?? (await service.tokenOf(caller))}`]];
}

/** Later headers replace earlier ones of the same name. */
const mergeHeaders = (...lists: [string, string][][]): Record<string, string> =>
  Object.fromEntries(lists.flat().map(([name, value]) => [name.toLowerCase(), value]));

function exchange(
  url: string,
  agent: Agent,
  { method, target, body }: FuzzRequest,
  headers: Record<string, string>,
): Promise<RawReply> {
  const { hostname, port } = new URL(url);
  const sized = body ? { ...headers, 'content-length': String(body.length) } : headers;
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { hostname, port, agent, method, path: target, headers: sized, timeout: HANG_MS },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    request.on('timeout', () => request.destroy(new Error(`No reply within ${HANG_MS} ms.`)));
    request.on('error', (error: NodeJS.ErrnoException) => {
      // The server closed the kept-alive connection before the request was sent; HTTP lets the client retry.
      if (request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE'))
        resolve(exchange(url, agent, { method, target, body } as FuzzRequest, headers));
      else reject(error);
    });
    request.end(body);
  });
}
