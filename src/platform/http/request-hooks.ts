import type { FastifyReply, FastifyRequest } from 'fastify';
import { assertPermitted, authenticate, losesExemptions } from '../access/authenticate.js';
import type { Caller, KeyCaller, UserCaller } from '../identity/callers.js';
import type { Secrets } from '../access/secrets.js';
import type { Tokens } from '../access/tokens.js';
import { parseMediaType, type MediaType } from '../contract/media-types.js';
import { NDJSON, type Operation } from '../contract/types.js';
import { makeContext, type RequestContext } from '../context/request-context.js';
import { withSpan, type Db } from '../db/database.js';
import { ApiError } from '../errors/errors.js';
import {
  admitBeforeLargeBody,
  bodyBytesOf,
  bodyTooLarge,
  fileTooLarge,
  formBytesOf,
} from './bodies/body-limits.js';
import { linesTooLarge, type SentLines } from './bodies/lines.js';
import { MULTIPART, readForm, sentMediaType } from './bodies/forms.js';
import { sandboxKeyOf } from './connections/request-target.js';
import { HEALTH_CHECKS } from '../values/health-checks.js';
import { readIdempotencyKey } from '../idempotency/idempotency-key.js';
import type { LoopGuard } from '../limits/overload/loop-guard.js';
import type { RequestLimit } from '../limits/request-rate.js';
import { provokedRefusal, refuseAsAsked } from './provoked-failures.js';
import type { Tenants } from './tenant-by-host.js';
import { whenClosed } from '../concurrency/when-closed.js';
import type { Written } from './within-allowance.js';
import { assertDecodableQuery, assertStorableText } from './bodies/text.js';
import { assertKnownParameters } from './bodies/unknown-parameters.js';
import { assertActionDeclared } from './bodies/undeclared-action.js';

declare module 'fastify' {
  interface FastifyRequest {
    operation?: Operation;
    tenantId?: string;
    /** The database of the tenant. */
    db?: Db;
    caller?: UserCaller | KeyCaller | undefined;
    /** The caller's context; the tenant's if the operation takes no credential. */
    context?: RequestContext;
  }
}

export type HookDeps = {
  /** The database of requests without a tenant. */
  db: Db;
  tenants: Tenants;
  tokens: Tokens;
  secrets: Secrets;
  limit: RequestLimit;
  written: Written;
  guard: LoopGuard;
};

const TENANTLESS = new Set<string>([
  ...HEALTH_CHECKS,
  ...['getContractJson', 'getContractYaml', 'getSdkContract'],
]);

/**
 * Returns the onRequest hook: tenant, body headers, credential, rate limit and permission. All of it runs before the body is
 * read, in the order of failures that the contract defines.
 */
export function makeAuthorizationHook(operation: Operation, deps: HookDeps) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (!TENANTLESS.has(operation.id))
      ({ tenantId: request.tenantId, db: request.db } = await deps.tenants.ofHost(
        request.headers.host,
        sandboxKeyOf(request.raw),
      ));
    // Set only now: the error handler words failures as the operation declares them, and no operation declares those of
    // ofHost (https_required, unknown_host).
    request.operation = operation;
    assertAcceptableBody(request, operation);
    request.caller = authenticate(request, operation, request.tenantId ?? '', deps);
    const db = withSpan(request.db ?? deps.db, request.span);
    request.context = makeContext(db, request.caller ?? systemCaller(request), request.id);
    await deps.limit.count(request);
    if (request.tenantId !== undefined) assertNotOverloaded(reply, request.context, db, deps);
    // After the rate limit, because a refusal makes the error handler check the account.
    assertPermitted(request.caller, operation);
    if (isUncheckedToken(request.context.caller, db)) await request.context.assertAdmitted();
    const refusal = provokedRefusal(request);
    if (refusal) await refuseAsAsked(request, request.context, refusal);
    await admitBeforeLargeBody(request);
  };
}

/**
 * Whether a service token only claims its owner. It is checked before anything else, because reports and batches take turns by owner: an
 * invented one would take the turns of the courier that it names. Further requests with the token are checked with their work.
 */
const isUncheckedToken = (caller: Caller, { connectionShares }: Db): boolean =>
  caller.kind === 'token' && !connectionShares.isKnown(caller);

/** Refuses what could not be served in time, before it costs more. @throws ApiError overloaded */
function assertNotOverloaded(
  reply: FastifyReply,
  { caller }: RequestContext,
  db: Db,
  { guard }: HookDeps,
): void {
  db.connectionShares.assertMayWait(caller);
  whenClosed(reply, guard.admit(caller, db.connectionShares.isKnown(caller)));
}

const systemCaller = ({ tenantId = '', clientAddress }: FastifyRequest) => ({
  kind: 'system' as const,
  tenantId,
  address: clientAddress,
});

/** Returns the preValidation hook: rejects a missing body, invalid encoding and undeclared actions, and reads forms. */
export function makePreValidationHook(
  operation: Operation,
  { secrets, limit }: Pick<HookDeps, 'secrets' | 'limit'>,
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    assertDecodableQuery(request.url);
    assertStorableText(request.query);
    assertKnownParameters(request.query, operation);
    if (operation.mediaTypes.length > 0) {
      if (request.isMultipart()) request.body = await readForm(request, reply, operation);
      if (request.body === undefined && operation.bodyRequired) throw bodyRequiredError(operation);
      // A missing optional body becomes an empty one, so that Ajv adds its defaults. PHP encodes an empty array of fields as [].
      if (request.body === undefined || (operation.takesEmptyBody && isEmptyList(request.body)))
        request.body = {};
    }
    if (sentMediaType(request) === NDJSON) await countLines(request, limit);
    assertActionDeclared(request, sentMediaType(request), operation);
    if (losesExemptions(operation, request.body)) request.context = request.context?.withoutExemptions();
    if (operation.takesIdempotencyKey)
      request.idempotencyKey = await readIdempotencyKey(request, operation, secrets);
  };
}

const isEmptyList = (body: unknown) => Array.isArray(body) && body.length === 0;

async function countLines(request: FastifyRequest, limit: RequestLimit): Promise<void> {
  // The parser of this media type returns it.
  const { lines } = request.body as SentLines;
  await limit.countLines(request, lines.length);
}

const bodyRequiredError = ({ mediaTypes }: Operation) =>
  (mediaTypes as readonly string[]).includes('application/json')
    ? new ApiError('body_required')
    : new ApiError('body_required', { variant: 'form' });

/** Rejects a body by its headers with 413 or 415. The size of a body without Content-Length is checked while it is read. */
function assertAcceptableBody(request: FastifyRequest, operation: Operation): void {
  const accepted: readonly string[] = operation.mediaTypes;
  if (accepted.length === 0) return;
  const { headers } = request;
  const length = Number(headers['content-length'] ?? 0);

  const hasBody = length > 0 || headers['transfer-encoding'] !== undefined;
  const contentType = headers['content-type'];
  // Clients such as PHP's curl send a media type with an empty POST.
  if (!hasBody && (contentType === undefined || !operation.bodyRequired)) {
    // Not for multipart: without a boundary it would be reported as malformed instead of missing.
    if (accepted[0] !== MULTIPART) headers['content-type'] = accepted[0];
    return;
  }
  const sent = contentType === undefined ? undefined : parseMediaType(contentType);
  const mediaType = sent && isUtf8(sent) ? sent.type : undefined;
  // Before the size, whose limit depends on the media type.
  const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity';
  if (!sent || !mediaType || !accepted.includes(mediaType) || !isPlain) {
    const types = accepted.join(' or ');
    throw new ApiError('unsupported_media_type', { args: { types } });
  }
  if (mediaType === MULTIPART && length > formBytesOf(operation)) throw fileTooLarge(operation);
  const maxLinesBytes = mediaType === NDJSON ? operation.lineLimits?.maxBodyBytes : undefined;
  if (maxLinesBytes !== undefined && length > maxLinesBytes) throw linesTooLarge(maxLinesBytes);
  if (mediaType !== MULTIPART && length > (maxLinesBytes ?? bodyBytesOf(operation)))
    throw bodyTooLarge(operation);
  // Fastify selects the schema by this header, so it must have the canonical spelling. A form also needs its boundary.
  headers['content-type'] = mediaType === MULTIPART ? sent.header : mediaType;
}

const isUtf8 = ({ charset = 'utf-8' }: MediaType): boolean => charset === 'utf-8' || charset === 'utf8';
