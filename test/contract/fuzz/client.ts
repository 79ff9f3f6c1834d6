import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEMO } from '../../../src/development/demo/demo.js';
import type { RawReply } from '../../support/service/wire.js';
import type { Service } from '../../support/service/service.js';
import type { FuzzCaller, FuzzRequest } from './requests.js';

// longer than any reply takes, shorter than anybody would wait
const HANG_MS = 20_000;

export type FuzzClient = { send(request: FuzzRequest): Promise<RawReply>; close(): void };

/** Sends requests as they are; @throws when one is not answered. */
export function makeFuzzClient(service: Service): FuzzClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  return {
    async send(request) {
      const headers = mergeHeaders(await credentialOf(service, request.caller), request.headers);
      return untilAdmitted(() => exchange(service.url, agent, request, headers));
    },
    close: () => agent.destroy(),
  };
}

/** On a machine that others use too a connection may not come free in time: that is declared, and nothing was done. */
async function untilAdmitted(ask: () => Promise<RawReply>, triesLeft = 5): Promise<RawReply> {
  const reply = await ask();
  if (reply.status !== 503 || triesLeft === 0) return reply;
  await sleep(200);
  return untilAdmitted(ask, triesLeft - 1);
}

async function credentialOf(service: Service, caller: FuzzCaller): Promise<[string, string][]> {
  if (caller === 'nobody') return [];
  const isOfTwo = caller.startsWith('two/') || caller === 'key TWO';
  const host: [string, string][] = isOfTwo ? [['host', DEMO.hosts.two]] : [];
  // as: the callers with a key are named by their courier
  const key = caller.startsWith('key ') && DEMO.apiKeys[caller.slice(4) as keyof typeof DEMO.apiKeys];
  if (key) return [...host, ['x-api-key', key]];
  return [...host, ['authorization', `Bearer ${await service.tokenOf(caller)}`]];
}

/** The later of two headers of one name stands. */
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
    const asked = httpRequest(
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
    asked.on('timeout', () => asked.destroy(new Error(`No reply within ${HANG_MS} ms.`)));
    asked.on('error', (error: NodeJS.ErrnoException) => {
      // the server had closed the connection that was to be used again: HTTP has the client ask anew
      if (asked.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE'))
        resolve(exchange(url, agent, { method, target, body } as FuzzRequest, headers));
      else reject(error);
    });
    asked.end(body);
  });
}
