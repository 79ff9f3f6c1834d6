import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LogController } from 'fastify';
import { operations } from '../../../generated/operations.js';
import type { KeyCaller, UserCaller } from '../identity/callers.js';
import type { FailureCode, FieldError } from '../errors/errors.js';
import { isHealthCheck } from '../values/health-checks.js';

declare module 'fastify' {
  interface FastifySchema {
    /** The contract's operationId of the route. */
    operationId?: string;
  }

  interface FastifyRequest {
    /** The caller that the credential names, whether the request is accepted or rejected. */
    claimedCaller?: UserCaller | KeyCaller;
    /** The code of a failure response. */
    failureCode?: FailureCode | undefined;
    /** The fields that it refuses. */
    failedFields?: readonly FieldError[] | undefined;
  }
}

/** Hex digits of an API key's hash in the log: enough to find the courier, too few to look the key up. */
const KEY_ID_LENGTH = 12;

/** Returns the log fields that attribute a request to a tenant and a caller. They never contain a credential. */
export function attributionOf(request: FastifyRequest): Record<string, string> {
  const { tenantId, claimedCaller, failureCode } = request;
  return defined({
    tenantId,
    ...callerFields(claimedCaller, isChecked(request)),
    courierId: courierOf(request),
    // Set when a token of another tenant was sent to this tenant's host.
    callerTenantId: claimedCaller?.tenantId === tenantId ? undefined : claimedCaller?.tenantId,
    code: failureCode,
  });
}

function callerFields(
  caller: UserCaller | KeyCaller | undefined,
  wasChecked: boolean,
): Record<string, string | undefined> {
  if (!caller) return {};
  if (caller.kind === 'key') return { keyId: caller.keyHash.slice(0, KEY_ID_LENGTH) };
  const { role } = caller;
  if (caller.kind === 'user') return { userId: caller.userId, role };
  if (wasChecked) return { tokenId: caller.tokenId, role };
  return {
    claimedTokenId: caller.tokenId,
    claimedRole: role,
    claimedCourierId: caller.courierId ?? undefined,
  };
}

/** Returns the courier of the caller. A credential that nobody has checked must not name a courier in the log. */
function courierOf(request: FastifyRequest): string | undefined {
  const { claimedCaller: caller, db } = request;
  if (caller?.kind === 'key') return db?.connectionShares.courierOfKey(caller);
  return caller && isChecked(request) ? (caller.courierId ?? undefined) : undefined;
}

/** An access token is signed. What a service token says is only a claim until the database has compared its hash. */
function isChecked({ claimedCaller: caller, context, db }: FastifyRequest): boolean {
  if (!caller) return false;
  return (
    caller.kind === 'user' || context?.isAdmitted === true || db?.connectionShares.isKnown(caller) === true
  );
}

const defined = (fields: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

/**
 * Fastify's log lines, with the caller and the failure code added to the line that ends a request. Health checks have level
 * debug unless they fail, because load balancers send one each second.
 */
export const makeLogController = (): LogController =>
  Object.assign(new LogController(), {
    incomingRequest(request: FastifyRequest): void {
      request.log[isHealthCheck(request) ? 'debug' : 'info']({ req: request }, 'incoming request');
    },

    requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
      const fields = {
        req: request,
        res: reply,
        responseTime: reply.elapsedTime,
        ...attributionOf(request),
      };
      if (error) request.log.error({ ...fields, err: error }, 'request errored');
      else if (isHealthCheck(request) && reply.statusCode < 400)
        request.log.debug(fields, 'request completed');
      else request.log.info(fields, 'request completed');
    },
  });

/** Adds the operationId and aborted requests to the log. Call it before any other hook, because a hook that throws skips the rest. */
export function attributeRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const operationId = request.routeOptions.schema?.operationId;
    const traceId = request.span?.traceId;
    if (operationId)
      request.log = reply.log = request.log.child(traceId ? { operationId, traceId } : { operationId });
    // Fastify does not log a client that disconnects before the response is complete.
    reply.raw.once('close', () => {
      if (reply.raw.writableFinished) return;
      request.log.info(
        { req: request, responseTime: reply.elapsedTime, ...attributionOf(request) },
        'request aborted',
      );
    });
    done();
  });
}

/** Serializes a request for the log, without its query, which may contain an API key, and without its headers. */
export function describeRequest({ method, url, headers, clientAddress }: FastifyRequest) {
  // %3f is a question mark that was encoded once too often; what follows may also contain a key.
  const path = withoutKey(url.split(/\?|%3f/i)[0] ?? '');
  return { method, path, host: headers.host, address: clientAddress };
}

/** The first parts of the paths of pages, whose rest is a credential. */
const PAGES = new Set(
  Object.values(operations).flatMap(({ isPage, path }) => (isPage ? [path.split('/')[1] ?? ''] : [])),
);

/**
 * Leaves out what follows the first part of a page's path, also if the rest of the path is wrong: a key with something behind it is still
 * one. The router decodes paths, so an encoded one is compared decoded.
 */
function withoutKey(path: string): string {
  const [, first = '', ...rest] = path.split('/');
  return rest.length > 0 && PAGES.has(decoded(first).toLowerCase()) ? `/${first}/…` : path;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
