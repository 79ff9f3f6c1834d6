import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** A request that a receiver got, whole. */
export type Received = {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** performance.now() at its end. */
  atMs: number;
};

type Answer = (request: Received, response: ServerResponse) => void;

/** A courier's own system: a real server on loopback that keeps what it gets. */
export type Receiver = {
  url: string;
  received: Received[];
  /** How it answers from now on. */
  answer: Answer;
  /** Those of the requests to a path. */
  at(path: string): Received[];
  stop(): Promise<void>;
};

export const accept: Answer = (_request, response) => response.writeHead(204).end();
export const refuse =
  (status: number, text = ''): Answer =>
  (_request, response) =>
    response.writeHead(status).end(text);
/** Never says a word. */
export const hang: Answer = () => undefined;
/** Accepts, and goes on talking. */
export const talkForEver: Answer = (_request, response) => {
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
    // as: without an encoding a request gives buffers
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
  // as: a server that listens on TCP has an address of this kind
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return receiver;
}

/** What the public Standard Webhooks library reads of a request. @throws when no signature of it is of this secret */
export const verified = (secret: string, { body, headers }: Received): unknown =>
  new Webhook(secret).verify(body, headers);
