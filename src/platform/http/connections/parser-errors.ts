import { STATUS_CODES, type Server } from 'node:http';
import { Socket } from 'node:net';
import { newId } from '../../values/ids.js';
import { ApiError, type FailureCode, type PlainCode } from '../../errors/errors.js';
import { wrapFailure } from '../replies/envelope.js';

const PARSER_CODES: Record<string, PlainCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

export type SocketResponse = { status: number; code: FailureCode; requestId: string; socket: Socket };

/** Called for each response that is written to a socket directly. */
export type OnSocketResponse = (response: SocketResponse) => void;

/** How long a client may take to read the response and close its side. Node has no limit of its own. */
const LINGER_MS = 5_000;

/**
 * Responds, directly on the socket, to input that Node's HTTP parser rejected before there was a request: invalid syntax,
 * headers that are too large, a request that did not arrive in time. The body is the usual failure envelope.
 */
export function respondToParserError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  onResponse: OnSocketResponse,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  respondOnSocket(socket, toParserError(error.code), onResponse);
}

const toParserError = (code = ''): ApiError =>
  code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW'
    ? new ApiError('body_too_large', { variant: 'undeclared' })
    : new ApiError(PARSER_CODES[code] ?? 'malformed_request');

/** Replaces Node's own responses to CONNECT and to unknown expectations, which have no envelope. */
export function overrideNodeResponses(server: Server, onResponse: OnSocketResponse): void {
  // An unknown expectation may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request, socket) => {
    if (socket instanceof Socket) respondOnSocket(socket, new ApiError('malformed_request'), onResponse);
  });
}

function respondOnSocket(socket: Socket, error: ApiError, onResponse: OnSocketResponse): void {
  const requestId = newId();
  onResponse({ status: error.httpStatus, code: error.code, requestId, socket });
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
  const body = JSON.stringify(wrapFailure(error, undefined, requestId, new Date()));
  socket.end(
    [
      `HTTP/1.1 ${error.httpStatus} ${STATUS_CODES[error.httpStatus]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Cache-Control: no-store',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
