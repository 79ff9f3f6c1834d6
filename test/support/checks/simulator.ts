import type { ServerResponse } from 'node:http';
import type { Received, Receiver } from '../receivers/receiver.js';
import { verified } from '../receivers/receiver.js';
import { webhookSecret } from '../receivers/webhooks.js';

/** The token of the courier whose receiver is simulated. */
export const TOKEN = 'token-of-the-simulated-courier';
export const SECRET = webhookSecret('s');

export type Reply = { status: number; body?: string | object | Buffer; headers?: Record<string, string> };
type Content = Record<string, unknown>;

export type Simulated = {
  /** The places of which one must have the token. None checks it. */
  tokenIn?: ('authorization' | 'x-api-key' | 'APIToken' | 'token' | 'id')[];
  /** How the body is written before its signature is verified. Undefined does not verify. */
  signed?: (body: string) => string;
  shape?: 'object' | 'array';
  /** The response to a new package. */
  first?: (content: Content) => Reply;
  /** The response to one that it has already. */
  again?: (content: Content) => Reply;
  unauthorised?: Reply;
  wrongShape?: Reply;
};

/** As it arrived. */
export const asReceived = (body: string): string => body;
export const stored: Reply = { status: 201, body: { ok: true } };

/** Returns the handler of a courier's system. Without options it is healthy: it wants the token and a signature, and stores once. */
export function simulate({
  tokenIn = ['authorization'],
  signed = asReceived,
  shape,
  first = () => stored,
  again = () => ({ status: 200, body: { ok: true, known: true } }),
  unauthorised = { status: 401, body: { error: 'unauthorized' } },
  wrongShape = { status: 400, body: { error: 'unexpected JSON' } },
}: Simulated = {}): Receiver['answer'] {
  const known = new Set<string>();
  return (request, response) => {
    const sent = JSON.parse(request.body) as Content | Content[];
    const [content = {}] = Array.isArray(sent) ? sent : [sent];
    const reply = () => {
      if (tokenIn.length > 0 && !tokenIn.some((place) => tokenAt(place, request, content) === TOKEN))
        return unauthorised;
      if (!isSigned(request, signed)) return unauthorised;
      if (shape && Array.isArray(sent) !== (shape === 'array')) return wrongShape;
      const id = request.headers['webhook-id'] ?? '';
      const isKnown = known.has(id);
      known.add(id);
      return isKnown ? again(content) : first(content);
    };
    answer(response, reply());
  };
}

const tokenAt = (place: string, { headers, path }: Received, content: Content): unknown => {
  if (place === 'authorization') return headers['authorization']?.replace(/^Bearer /, '');
  if (place === 'x-api-key') return headers['x-api-key'];
  if (place === 'id') return new URL(path, 'http://x').searchParams.get('id');
  return content[place];
};

function isSigned(request: Received, write: (body: string) => string): boolean {
  try {
    verified(SECRET, { ...request, body: write(request.body) });
    return true;
  } catch {
    return false;
  }
}

export function answer(response: ServerResponse, { status, body = '', headers = {} }: Reply): void {
  const isJson = typeof body === 'object' && !Buffer.isBuffer(body);
  const type = isJson ? { 'content-type': 'application/json' } : {};
  response.writeHead(status, { ...type, ...headers }).end(isJson ? JSON.stringify(body) : body);
}

/** Always the same response, whatever is sent. */
export const always =
  (reply: Reply): Receiver['answer'] =>
  (_request, response) =>
    answer(response, reply);

export const html = (status: number): Reply => ({
  status,
  body: '<!DOCTYPE html><html><body><h1>Welcome</h1></body></html>',
  headers: { 'content-type': 'text/html; charset=utf-8' },
});
