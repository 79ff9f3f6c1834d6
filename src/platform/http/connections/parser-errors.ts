import { STATUS_CODES, type Server } from 'node:http';
import { Socket } from 'node:net';
import { newId } from '../../values/ids.js';
import { ApiError, type FailureCode } from '../../errors/errors.js';
import { wrapFailure } from '../replies/envelope.js';

const PARSER_CODES: Record<string, FailureCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

export type SocketResponse = { status: number; code: FailureCode; requestId: string; socket: Socket };

/** Told of each answer. */
export type OnSocketResponse = (answer: SocketResponse) => void;

/** How long a client may take to read the answer and to close its side; Node itself would wait for ever. */
const LINGER_MS = 5_000;

/**
 * Answers on the bare socket what Node's HTTP parser refused before there was a request: broken syntax,
 * headers too large, a request that did not arrive in time. The same envelope as everywhere.
 */
export function respondToParserError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  onAnswer: OnSocketResponse,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  respondOnSocket(socket, new ApiError(PARSER_CODES[error.code ?? ''] ?? 'malformed_request'), onAnswer);
}

/** Takes from Node what it would answer by itself, with no body or not at all. */
export function overrideNodeResponses(server: Server, onAnswer: OnSocketResponse): void {
  // an expectation that is not known may be ignored (RFC 9110, 10.1.1)
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request, socket) => {
    if (socket instanceof Socket) respondOnSocket(socket, new ApiError('malformed_request'), onAnswer);
  });
}

function respondOnSocket(socket: Socket, fault: ApiError, onAnswer: OnSocketResponse): void {
  const requestId = newId();
  onAnswer({ status: fault.httpStatus, code: fault.code, requestId, socket });
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
  const body = JSON.stringify(wrapFailure(fault, undefined, requestId, new Date()));
  socket.end(
    [
      `HTTP/1.1 ${fault.httpStatus} ${STATUS_CODES[fault.httpStatus]}`,
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
