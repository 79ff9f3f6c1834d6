import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { newId } from '../ids.js';
import { Fault, type FailureCode } from '../errors.js';
import { wrapFailure } from './envelope.js';

const PARSER_CODES: Record<string, FailureCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** Told of each answer's status. */
type OnAnswer = (status: number, socket: Duplex) => void;

/**
 * Answers on the bare socket what Node's HTTP parser refused before there was a request: broken syntax,
 * headers too large, a request that did not arrive in time. The same envelope as everywhere.
 */
export function answerParserFailure(error: NodeJS.ErrnoException, socket: Duplex, onAnswer: OnAnswer): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  answerOnSocket(socket, new Fault(PARSER_CODES[error.code ?? ''] ?? 'malformed_request'), onAnswer);
}

/** Takes from Node what it would answer by itself, with no body or not at all. */
export function answerInsteadOfNode({ server }: FastifyInstance, onAnswer: OnAnswer): void {
  // an expectation that is not known may be ignored (RFC 9110, 10.1.1)
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request, socket) =>
    answerOnSocket(socket, new Fault('malformed_request'), onAnswer),
  );
}

function answerOnSocket(socket: Duplex, fault: Fault, onAnswer: OnAnswer): void {
  onAnswer(fault.httpStatus, socket);
  const requestId = newId();
  const body = JSON.stringify(wrapFailure(fault, undefined, requestId, new Date()));
  socket.end(
    [
      `HTTP/1.1 ${fault.httpStatus} ${STATUS_CODES[fault.httpStatus]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
