import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { stringifyReply } from '../contract/json-text.js';
import type { FileReply } from '../contract/types.js';
import { wrapSuccess } from './envelope.js';

/** A reply as it is sent, but for the headers that every reply has. */
export type Answer = {
  statusCode: number;
  headers: Record<string, string>;
  payload: string | Buffer | Readable;
};

/** What a handler answers with. */
export type Bare = { statusCode: number; body?: unknown; file?: FileReply<string> };

export const JSON_TYPE = 'application/json; charset=utf-8';

export function toAnswer(operationId: string, bare: Bare, now: Date): Answer {
  const { statusCode, body, file } = bare;
  if (file) return { statusCode, headers: fileHeaders(file), payload: file.content };
  // without a type a string would be sent as text/plain
  if (typeof body === 'string')
    return { statusCode, headers: { 'content-type': bareTextType(operationId) }, payload: body };
  const envelope = body === undefined ? stringifyReply(wrapSuccess(operationId, bare, now)) : undefined;
  return {
    statusCode,
    headers: { 'content-type': JSON_TYPE },
    payload: envelope ?? JSON.stringify(body),
  };
}

export const sendAnswer = (reply: FastifyReply, { statusCode, headers, payload }: Answer): FastifyReply =>
  reply.code(statusCode).headers(headers).send(payload);

/** The name is of our own making: plain ASCII without quotes. */
function fileHeaders({ mediaType, name, headers = {} }: FileReply<string>): Record<string, string> {
  const charset = mediaType.startsWith('text/') ? '; charset=utf-8' : '';
  return {
    ...headers,
    ...(name ? { 'content-disposition': `attachment; filename="${name}"` } : {}),
    'content-type': mediaType + charset,
  };
}

const bareTextType = (id: string) => (id === 'getContractYaml' ? 'application/yaml' : JSON_TYPE);
