import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { serializeReply } from '../../contract/json-text.js';
import type { FileReply, StaticDocument } from '../../contract/types.js';
import type { FailureCode, FieldError } from '../../errors/errors.js';
import { wrapSuccess } from './envelope.js';

/** A response as it is sent, without the headers that every response has. */
export type HttpResponse = {
  statusCode: number;
  headers: Record<string, string>;
  /** The pieces of a long text are sent one after the other (decision 0002). */
  payload: string | Buffer | Buffer[] | Readable;
  /** The code of a failure. */
  code?: FailureCode;
  /** The fields that a failure refuses. */
  errors?: readonly FieldError[] | undefined;
};

/** The result of a handler. */
export type HandlerResult = {
  statusCode: number;
  body?: unknown;
  file?: FileReply<string>;
  document?: StaticDocument;
  /** The access token for the browser's session cookie; an empty text deletes the cookie. */
  sessionCookie?: string;
  /** The text for the browser's cookie of a station. */
  stationCookie?: string;
};

export const JSON_TYPE = 'application/json; charset=utf-8';

export function toHttpResponse(operationId: string, result: HandlerResult, now: Date): HttpResponse {
  const { statusCode, body, file } = result;
  if (file) return { statusCode, headers: fileHeaders(file), payload: file.content };
  const envelope = body === undefined ? serializeReply(wrapSuccess(operationId, result, now)) : undefined;
  return {
    statusCode,
    headers: { 'content-type': JSON_TYPE },
    payload: envelope ?? JSON.stringify(body),
  };
}

export function sendHttpResponse(
  reply: FastifyReply,
  { statusCode, headers, payload, code, errors }: HttpResponse,
): FastifyReply {
  const { request } = reply;
  request.failureCode = code;
  request.failedFields = errors;
  void reply.headers(headers);
  if (statusCode === 200 && matchesEtag(headers['etag'], request.headers['if-none-match']))
    return reply.removeHeader('content-type').removeHeader('content-encoding').code(304).send();
  if (Array.isArray(payload)) void reply.serializer(keepPieces);
  return reply.code(statusCode).send(payload);
}

/** A failure that replaces the response is an object. */
const keepPieces = (payload: unknown): string =>
  // Fastify passes the pieces on to the onSend hooks, and sliceReplies streams them.
  Array.isArray(payload) ? (payload as unknown as string) : JSON.stringify(payload);

/** Returns whether If-None-Match matches the ETag: weak comparison, and `*` matches any (RFC 9110, 13.1.2). */
function matchesEtag(etag: string | undefined, known: string | undefined): boolean {
  if (etag === undefined || known === undefined) return false;
  return known.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
}

/** The file's name needs no escaping, because our code creates it and it contains only ASCII without quotes. */
function fileHeaders({ mediaType, name, headers = {} }: FileReply<string>): Record<string, string> {
  const charset = mediaType.startsWith('text/') ? '; charset=utf-8' : '';
  return {
    ...headers,
    ...(name ? { 'content-disposition': `attachment; filename="${name}"` } : {}),
    'content-type': mediaType + charset,
  };
}
