import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { toFieldErrors } from '../../contract/field-errors.js';
import { assertAdmitted, isAdmitted, type Db } from '../../db/transaction.js';
import { apiErrorOfViolation } from '../../db/violations.js';
import { ApiError, type FailureCode } from '../../errors/errors.js';
import type { KeyFailureLimit } from '../../access/rate-limit.js';
import { bodyTooLarge } from '../bodies/body-limits.js';
import { wrapFailure } from './envelope.js';
import { attributionOf } from '../../logging/request-log.js';

const FRAMEWORK_CODES: Record<string, FailureCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_request',
  FST_ERR_CTP_INVALID_TYPE: 'unsupported_media_type',
  FST_ERR_BAD_URL: 'malformed_request',
  FST_ERR_MAX_PARAM_LENGTH: 'route_not_found',
  ECONNRESET: 'malformed_request',
};

/** Turns whatever was thrown into the failure envelope; the only place that does. */
export function makeFailureHandler(db: Db, keyFailures: KeyFailureLimit) {
  return async (error: FastifyError, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const refusal = await checkAccountFirst(toRequestError(error, request), request, db);
    const fault = await keyFailures.countFailure(refusal, request);
    if (fault.httpStatus >= 500)
      request.log.error({ ...attributionOf(request), err: error, code: fault.code }, fault.code);
    return sendError(fault, request, reply);
  };
}

/** The router could not read the path: no hook has run, so that the header is set here. */
export function respondToRouterError(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  void reply.header('x-request-id', request.id).header('cache-control', 'no-store');
  sendError(toApiError(error), request, reply);
}

export function sendError(fault: ApiError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { retryAfterSeconds } = fault.detail;
  request.failureCode = fault.code;
  if (retryAfterSeconds !== undefined) void reply.header('retry-after', retryAfterSeconds);
  return reply.code(fault.httpStatus).send(wrapFailure(fault, request.operation, request.id, new Date()));
}

/** What an error means to the caller; `internal_error` where it is nobody's fault but ours. */
export function toApiError(error: FastifyError): ApiError {
  if (error instanceof ApiError) return error;
  if (error.validation) return validationError(error.validation);
  const code = FRAMEWORK_CODES[error.code];
  return code ? new ApiError(code) : (apiErrorOfViolation(error) ?? new ApiError('internal_error'));
}

/** Of the request as well: the limit that a body of undeclared length has passed is the operation's. */
function toRequestError(error: FastifyError, { operation }: FastifyRequest): ApiError {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE' && operation) return bodyTooLarge(operation);
  return toApiError(error);
}

function validationError(found: NonNullable<FastifyError['validation']>): ApiError {
  const errors = toFieldErrors(found);
  const more = errors.length > 3 ? ` And ${errors.length - 3} more.` : '';
  return new ApiError(
    'validation_failed',
    errors
      .slice(0, 3)
      .map(({ message }) => message)
      .join(' ') + more,
    { errors },
  );
}

/**
 * The account is checked in the transaction that does the work, so a request refused before it has not been
 * checked yet. A disabled account or a stale token comes before a bad body in the contract's order: ask now.
 */
async function checkAccountFirst(fault: ApiError, request: FastifyRequest, db: Db): Promise<ApiError> {
  const { caller } = request;
  if (!caller || isAdmitted(caller) || fault.httpStatus >= 500 || fault.httpStatus === 401) return fault;
  try {
    await assertAdmitted(db, caller);
    return fault;
  } catch (error) {
    return toApiError(error as FastifyError);
  }
}
