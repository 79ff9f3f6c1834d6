import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { toFieldErrors } from '../../contract/field-errors.js';
import type { Db } from '../../db/database.js';
import { apiErrorOfViolation } from '../../db/violations.js';
import type { Operation } from '../../contract/types.js';
import { ApiError, type PlainCode } from '../../errors/errors.js';
import { sendFailurePage, takesPage } from '../../pages/failure-page.js';
import type { KeyFailureLimit } from '../../limits/request-rate.js';
import { bodyTooLarge } from '../bodies/body-limits.js';
import { wrapFailure } from './envelope.js';
import { attributionOf } from '../../logging/request-log.js';

const FRAMEWORK_CODES: Record<string, PlainCode> = {
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_request',
  FST_ERR_BAD_URL: 'malformed_request',
  FST_ERR_MAX_PARAM_LENGTH: 'route_not_found',
};

/** The variants for requests that match no operation. */
const UNDECLARED_BODIES: Record<string, 'body_too_large' | 'unsupported_media_type'> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_TYPE: 'unsupported_media_type',
};

/** Returns Fastify's error handler. It is the only place that converts errors to failure responses. */
export function makeFailureHandler(keyFailures: KeyFailureLimit, home: Db) {
  const logged = new WeakSet<Error>();
  return async (error: FastifyError, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const ordered = await checkAccountFirst(toRequestError(error, request), request);
    const failure = await keyFailures.countFailure(ordered, request);
    // An overload must not cost a log line with a stack for each request, nor may the failed lookup of a host that many requests waited
    // for: the line that ends a request has the code.
    const isLogged = failure.code === 'overloaded' || failure.detail.isLogged === true || logged.has(error);
    if (failure.httpStatus >= 500 && !isLogged) {
      logged.add(error);
      (request.db ?? home).health.note(error);
      request.log.error({ ...attributionOf(request), err: error, code: failure.code }, failure.code);
    }
    return sendError(failure, request, reply);
  };
}

/** Responds to a path that the router could not parse. No hook has run, so the headers are set here. */
export function respondToRouterError(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  void reply.header('x-request-id', request.id).header('cache-control', 'no-store');
  sendError(toApiError(error), request, reply);
}

export function sendError(error: ApiError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { retryAfterSeconds = 0, limit } = error.detail;
  request.failureCode = error.code;
  request.failedFields = error.detail.errors;
  if (limit) request.context?.noteRateLimit({ ...limit, remaining: 0, resetSeconds: retryAfterSeconds });
  if (error.detail.retryAfterSeconds !== undefined) void reply.header('retry-after', retryAfterSeconds);
  if (takesPage(request)) return sendFailurePage(request, reply, error.httpStatus);
  return reply.code(error.httpStatus).send(wrapFailure(error, request.operation, request.id, new Date()));
}

/** Converts an error to the ApiError for the caller; an unexpected error becomes `internal_error`. */
export function toApiError(error: FastifyError, operation?: Operation): ApiError {
  if (error instanceof ApiError) return error;
  if (error.validation)
    return new ApiError('validation_failed', { errors: toFieldErrors(error.validation, operation?.actions) });
  const undeclared = UNDECLARED_BODIES[error.code];
  if (undeclared) return new ApiError(undeclared, { variant: 'undeclared' });
  const code = FRAMEWORK_CODES[error.code];
  return code ? new ApiError(code) : (apiErrorOfViolation(error) ?? new ApiError('internal_error'));
}

/**
 * Converts an error with `toApiError`, except for errors whose meaning depends on the request. A body without Content-Length that
 * is too large gets the message with the operation's own limit. ECONNRESET means that the client's body broke off if the request's
 * own socket has failed; otherwise the connection to the database was reset. ERR_STREAM_PREMATURE_CLOSE means that the client has left
 * before its body was read.
 */
function toRequestError(error: FastifyError, { operation, raw }: FastifyRequest): ApiError {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE' && operation) return bodyTooLarge(operation);
  if (error.code === 'ECONNRESET' && raw.errored) return new ApiError('malformed_request');
  if (error.code === 'ERR_STREAM_PREMATURE_CLOSE' && raw.socket.destroyed)
    return new ApiError('malformed_request');
  return toApiError(error, operation);
}

/**
 * Returns the account's error if there is one, otherwise the given error. The account is checked in the transaction that
 * does the work, so a request that was rejected earlier has not been checked. By the contract's order of failures, a disabled
 * account or a revoked token precedes an invalid body.
 */
async function checkAccountFirst(error: ApiError, request: FastifyRequest): Promise<ApiError> {
  const { caller, context } = request;
  if (!caller || !context || context.isAdmitted || error.httpStatus >= 500 || error.httpStatus === 401)
    return error;
  try {
    await context.assertAdmitted();
    return error;
  } catch (accountError) {
    // toApiError also handles errors that are not Fastify's.
    return toApiError(accountError as FastifyError);
  }
}
