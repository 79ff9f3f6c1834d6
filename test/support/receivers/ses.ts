import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';

/** The parameters of a SendRawEmail request. */
type SentMail = {
  source: string;
  destinations: string[];
  bytes: Buffer;
  headers: IncomingHttpHeaders;
};

/** The response of the server. Only accepted mails are recorded as accepted. */
export type SesAnswer =
  | 'accept'
  | 'hang'
  | 'reset'
  | 'trickle'
  | { status: number; code: string; message?: string }
  | { status: number; body: string };

/** A server that implements the SendRawEmail request of Amazon SES (query requests, XML responses). */
export type Ses = {
  url: string;
  /** Every request, accepted or not. */
  requests: SentMail[];
  accepted: SentMail[];
  answer: SesAnswer;
  /** Closes every connection, including hanging ones. */
  hangUp(): void;
  stop(): Promise<void>;
};

export async function startSes(): Promise<Ses> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const mail = readRequest(Buffer.concat(chunks).toString(), request.headers);
      ses.requests.push(mail);
      if (ses.answer === 'accept') ses.accepted.push(mail);
      reply(response, ses.answer, ses.requests.length);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has no port.');
  const ses: Ses = {
    url: `http://127.0.0.1:${address.port}`,
    requests: [],
    accepted: [],
    answer: 'accept',
    hangUp: () => server.closeAllConnections(),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return ses;
}

function readRequest(body: string, headers: IncomingHttpHeaders): SentMail {
  const form = new URLSearchParams(body);
  const { Action, Version, Source, 'RawMessage.Data': data, ...rest } = Object.fromEntries(form);
  if (Action !== 'SendRawEmail' || Version !== '2010-12-01' || !Source || !data)
    throw new Error(`Not a SendRawEmail request: ${body.slice(0, 200)}`);
  const others = Object.keys(rest).filter((name) => !/^Destinations\.member\.\d+$/.test(name));
  if (others.length > 0) throw new Error(`Unknown parameters: ${others.join(', ')}`);
  return { source: Source, destinations: Object.values(rest), bytes: Buffer.from(data, 'base64'), headers };
}

const NAMESPACE = 'xmlns="http://ses.amazonaws.com/doc/2010-12-01/"';

function reply(response: ServerResponse, answer: SesAnswer, count: number): void {
  if (answer === 'hang') return;
  if (answer === 'reset') response.socket?.destroy();
  else if (answer === 'trickle') trickle(response);
  else if (answer === 'accept') {
    const result = `<SendRawEmailResult><MessageId>mail-${count}</MessageId></SendRawEmailResult>`;
    send(response, 200, `<SendRawEmailResponse ${NAMESPACE}>${result}</SendRawEmailResponse>`);
  } else if ('body' in answer) send(response, answer.status, answer.body);
  else send(response, answer.status, failure(answer));
}

function failure({
  status,
  code,
  message = 'No.',
}: {
  status: number;
  code: string;
  message?: string;
}): string {
  const type = status < 500 ? 'Sender' : 'Receiver';
  const error = `<Error><Type>${type}</Type><Code>${code}</Code><Message>${message}</Message></Error>`;
  return `<ErrorResponse ${NAMESPACE}>${error}<RequestId>r-1</RequestId></ErrorResponse>`;
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'text/xml' }).end(body);
}

function trickle(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/xml' });
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
}
