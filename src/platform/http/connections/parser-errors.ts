import { STATUS_CODES, type Server } from 'node:http';
import { Socket } from 'node:net';
import { newId } from '../../values/ids.js';
import { ApiError, type FailureCode, type PlainCode } from '../../errors/errors.js';
import { wrapFailure } from '../replies/envelope.js';

const PARSER_CODES: Record<string, PlainCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

export type BareAnswer = { status: number; code: FailureCode; requestId: string; socket: Socket };

/** Told of each answer. */
export type OnBareAnswer = (answer: BareAnswer) => void;

/** How long a client may take to read the answer and to close its side; Node itself would wait for ever. */
const LINGER_MS = 5_000;

/**
 * Answers on the bare socket what Node's HTTP parser refused before there was a request: broken syntax,
 * headers too large, a request that did not arrive in time. The same envelope as everywhere.
 */
export function answerParserFailure(
  error: NodeJS.ErrnoException,
  socket: Socket,
  onAnswer: OnBareAnswer,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  answerOnSocket(socket, toParserError(error.code), onAnswer);
}

const toParserError = (code = ''): ApiError =>
  code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW'
    ? new ApiError('body_too_large', { variant: 'undeclared' })
    : new ApiError(PARSER_CODES[code] ?? 'malformed_request');

/** Takes from Node what it would answer by itself, with no body or not at all. */
export function answerInsteadOfNode(server: Server, onAnswer: OnBareAnswer): void {
  // an expectation that is not known may be ignored (RFC 9110, 10.1.1)
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request, socket) => {
    if (socket instanceof Socket) answerOnSocket(socket, new ApiError('malformed_request'), onAnswer);
  });
}

function answerOnSocket(socket: Socket, fault: ApiError, onAnswer: OnBareAnswer): void {
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
