import type { FastifyReply, FastifyRequest } from 'fastify';
import { authenticate } from '../access/authenticate.js';
import type { KeyCaller, UserCaller } from '../identity/callers.js';
import type { Secrets } from '../access/secrets.js';
import type { Tokens } from '../access/tokens.js';
import type { Operation } from '../contract/types.js';
import type { Db } from '../db/transaction.js';
import { ApiError } from '../errors/errors.js';
import {
  admitBeforeLargeBody,
  bodyBytesOf,
  bodyTooLarge,
  fileTooLarge,
  formBytesOf,
} from './bodies/body-limits.js';
import { MULTIPART, readForm, sentMediaType } from './bodies/forms.js';
import { HEALTH_CHECKS } from './https-only.js';
import { readIdempotencyKey } from '../idempotency/idempotency-key.js';
import type { RequestLimit } from '../access/rate-limit.js';
import type { Tenants } from './tenant-by-host.js';
import { assertDecodableQuery, assertStorableText, mediaTypeOf } from './bodies/text.js';
import { assertActionDeclared } from './undeclared-action.js';

declare module 'fastify' {
  interface FastifyRequest {
    operation?: Operation;
    tenantId?: string;
    caller?: UserCaller | KeyCaller | undefined;
  }
}

export type HookDeps = {
  db: Db;
  tenants: Tenants;
  tokens: Tokens;
  secrets: Secrets;
  limit: RequestLimit;
};

const TENANTLESS = new Set<string>([...HEALTH_CHECKS, 'getContractJson', 'getContractYaml']);

/** Everything that is judged of a request before its body is read, in the contract's order of refusal. */
export function makeAuthorizationHook(operation: Operation, parts: HookDeps) {
  return async (request: FastifyRequest): Promise<void> => {
    if (!TENANTLESS.has(operation.id)) request.tenantId = await parts.tenants.ofHost(request.headers.host);
    // only now: the contract states these two refusals once, not at each operation
    request.operation = operation;
    assertAcceptableBody(request, operation);
    request.caller = authenticate(request, operation, request.tenantId ?? '', parts);
    await parts.limit.count(request);
    await admitBeforeLargeBody(request, parts.db);
  };
}

/** Refuses what the router would hand over unchecked: a missing body, broken escapes, unstorable text. */
export function makePreValidationHook(operation: Operation, { secrets }: Pick<HookDeps, 'secrets'>) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    assertDecodableQuery(request.url);
    assertStorableText(request.query);
    if (operation.mediaTypes.length > 0) {
      if (request.isMultipart()) request.body = await readForm(request, reply, operation);
      if (request.body === undefined && operation.bodyRequired)
        throw new ApiError('body_required', bodyRequiredMessage(operation));
      // an absent optional body is an empty one, so that its defaults are filled in
      if (request.body === undefined) request.body = {};
    }
    assertActionDeclared(request, sentMediaType(request), operation);
    if (operation.takesIdempotencyKey)
      request.repeatable = await readIdempotencyKey(request, operation, secrets);
  };
}

const bodyRequiredMessage = ({ mediaTypes }: Operation) =>
  (mediaTypes as readonly string[]).includes('application/json')
    ? undefined
    : 'Send a form as the request body.';

/** 413 and 415 from the headers alone; a body of undeclared length is measured while it is read. */
function assertAcceptableBody(request: FastifyRequest, operation: Operation): void {
  const accepted: readonly string[] = operation.mediaTypes;
  if (accepted.length === 0) return;
  const { headers } = request;
  const length = Number(headers['content-length'] ?? 0);

  const hasBody = length > 0 || headers['transfer-encoding'] !== undefined;
  const contentType = headers['content-type'];
  if (contentType === undefined && !hasBody) {
    // a form without its boundary would be a malformed one; without a type it is told as missing
    if (accepted[0] !== MULTIPART) headers['content-type'] = accepted[0];
    return;
  }
  const mediaType = contentType === undefined ? undefined : mediaTypeOf(contentType);
  if (mediaType === MULTIPART && length > formBytesOf(operation)) throw fileTooLarge(operation);
  if (mediaType !== MULTIPART && length > bodyBytesOf(operation)) throw bodyTooLarge(operation);
  const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity';
  if (!mediaType || !accepted.includes(mediaType) || !isPlain) {
    const types = accepted.join(' or ');
    throw new ApiError('unsupported_media_type', `Send Content-Type: ${types}, uncompressed and in UTF-8.`);
  }
  // the router picks the schema by this header; only its canonical spelling is sure to find one
  if (mediaType !== MULTIPART) headers['content-type'] = mediaType;
}
