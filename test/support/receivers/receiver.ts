import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** A complete request as received. */
export type Received = {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** performance.now() at the end of the request. */
  atMs: number;
};

type Answer = (request: Received, response: ServerResponse) => void;

/** A courier's own system: a real server on loopback that records its requests. */
export type Receiver = {
  url: string;
  received: Received[];
  /** The current response handler. */
  answer: Answer;
  /** Returns the requests to a path. */
  at(path: string): Received[];
  stop(): Promise<void>;
};

export const accept: Answer = (_request, response) => response.writeHead(204).end();
export const refuse =
  (status: number, text = ''): Answer =>
  (_request, response) =>
    response.writeHead(status).end(text);
/** Never responds. */
export const hang: Answer = () => undefined;
/** Accepts the request and responds without end. */
export const respondForever: Answer = (_request, response) => {
  response.writeHead(200);
  const chunk = 'x'.repeat(16_384);
  const talk = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', talk);
  };
  talk();
};

export async function startReceiver(answer: Answer = accept): Promise<Receiver> {
  const server: Server = createServer((request, response) => void take(request, response));
  server.keepAliveTimeout = 60_000;
  const receiver: Receiver = {
    url: '',
    received: [],
    answer,
    at: (path) => receiver.received.filter((request) => request.path === path),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    // A request without an encoding yields buffers.
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const whole = {
      path: request.url ?? '',
      headers,
      body: Buffer.concat(chunks).toString(),
      atMs: performance.now(),
    };
    receiver.received.push(whole);
    receiver.answer(whole, response);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on TCP has this kind of address.
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return receiver;
}

/**
 * Returns the payload as the public Standard Webhooks library verifies it.
 * @throws if no signature matches the secret
 */
export const verified = (secret: string, { body, headers }: Received): unknown =>
  new Webhook(secret).verify(body, headers);
