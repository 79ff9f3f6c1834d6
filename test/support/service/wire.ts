import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';

/** A reply as received, before any check. */
export type RawReply = { status: number; headers: IncomingHttpHeaders; text: string };

export type RawRequest = {
  method?: string;
  path: string;
  headers?: Record<string, string | string[]>;
  /** A list is sent in chunks, without a Content-Length. */
  body?: string | Buffer | Buffer[];
};

/** Sends one request on a new connection with the given headers. */
export function sendRaw(url: string, { method = 'GET', path, headers = {}, body }: RawRequest) {
  return new Promise<RawReply>((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const isChunked = Array.isArray(body);
    const sized = body === undefined || isChunked ? {} : { 'content-length': Buffer.byteLength(body) };
    const options = { hostname, port, method, path, headers: { ...sized, ...headers }, agent: false };
    const request = httpRequest(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    // A server that rejects a body early closes the connection while the body is sent. Its reply still arrives.
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') reject(error);
    });
    if (isChunked) for (const chunk of body) request.write(chunk);
    request.end(isChunked ? undefined : body);
  });
}

export function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Sends bytes unchanged and returns all replies until the server closes the connection. */
export async function talk(url: string, bytes: string | Buffer): Promise<RawReply[]> {
  const socket = await openSocket(url);
  const replies = receive(socket);
  socket.write(bytes);
  return replies;
}

/** Returns all replies until the server closes the connection. */
export function receive(socket: Socket): Promise<RawReply[]> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    // A reset after the last byte does not matter.
    socket.on('error', () => {});
    socket.on('close', () => resolve(parseReplies(Buffer.concat(chunks))));
  });
}

function parseReplies(bytes: Buffer): RawReply[] {
  const replies: RawReply[] = [];
  for (let rest = bytes; rest.length > 0;) {
    const end = rest.indexOf('\r\n\r\n');
    const [statusLine = '', ...lines] = rest.subarray(0, end).toString().split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 2),
      ]),
    );
    const length = Number(headers['content-length'] ?? 0);
    const body = rest.subarray(end + 4);
    const status = Number(statusLine.split(' ')[1]);
    replies.push({ status, headers, text: body.subarray(0, length).toString() });
    rest = body.subarray(length);
  }
  return replies;
}
