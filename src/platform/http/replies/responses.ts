import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { stringifyReply } from '../../contract/json-text.js';
import type { FileReply, StaticDocument } from '../../contract/types.js';
import type { FailureCode } from '../../errors/errors.js';
import { wrapSuccess } from './envelope.js';

/** A reply as it is sent, but for the headers that every reply has. */
export type HttpResponse = {
  statusCode: number;
  headers: Record<string, string>;
  payload: string | Buffer | Readable;
  /** Of a failure. */
  code?: FailureCode;
};

/** What a handler answers with. */
export type HandlerResult = {
  statusCode: number;
  body?: unknown;
  file?: FileReply<string>;
  document?: StaticDocument;
};

export const JSON_TYPE = 'application/json; charset=utf-8';

export function toHttpResponse(operationId: string, bare: HandlerResult, now: Date): HttpResponse {
  const { statusCode, body, file } = bare;
  if (file) return { statusCode, headers: fileHeaders(file), payload: file.content };
  const envelope = body === undefined ? stringifyReply(wrapSuccess(operationId, bare, now)) : undefined;
  return {
    statusCode,
    headers: { 'content-type': JSON_TYPE },
    payload: envelope ?? JSON.stringify(body),
  };
}

export function sendHttpResponse(
  reply: FastifyReply,
  { statusCode, headers, payload, code }: HttpResponse,
): FastifyReply {
  const { request } = reply;
  request.failureCode = code;
  void reply.headers(headers);
  if (statusCode === 200 && matchesEtag(headers['etag'], request.headers['if-none-match']))
    return reply.removeHeader('content-type').removeHeader('content-encoding').code(304).send();
  return reply.code(statusCode).send(payload);
}

/** Whether the client has what the tag names: RFC 9110, 13.1.2, compares weakly, and `*` is any. */
function matchesEtag(etag: string | undefined, known: string | undefined): boolean {
  if (etag === undefined || known === undefined) return false;
  return known.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
}

/** The name is of our own making: plain ASCII without quotes. */
function fileHeaders({ mediaType, name, headers = {} }: FileReply<string>): Record<string, string> {
  const charset = mediaType.startsWith('text/') ? '; charset=utf-8' : '';
  return {
    ...headers,
    ...(name ? { 'content-disposition': `attachment; filename="${name}"` } : {}),
    'content-type': mediaType + charset,
  };
}
