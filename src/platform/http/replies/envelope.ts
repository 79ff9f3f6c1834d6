import type { ApiError, ApiErrorDetail, FailureCode, FieldError } from '../../errors/errors.js';
import type { Operation } from '../../contract/types.js';
import { formatDateTime } from '../../values/time.js';

export type FailureBody = {
  status: 'fail' | 'error';
  message: string;
  code: FailureCode;
  doc_url: string;
  errors?: FieldError[];
  existing?: ApiErrorDetail['existing'];
  request_id: string;
  timestamp: number;
};

/** Returns the success envelope with the fields of a handler's result. */
export function wrapSuccess(
  operationId: string,
  result: Record<string, unknown>,
  now: Date,
): Record<string, unknown> {
  const { statusCode: _, ...fields } = result;
  // Only manageManifest responds with a date-time here, because the contract promised that to its clients.
  const timestamp = operationId === 'manageManifest' ? formatDateTime(now) : toSeconds(now);
  return { status: 'success', ...fields, timestamp };
}

/** Returns the failure envelope. `operation` is undefined if the request matched none. */
export function wrapFailure(
  error: ApiError,
  operation: Operation | undefined,
  requestId: string,
  now: Date,
): FailureBody {
  return {
    status: isServerError(error, operation) ? 'error' : 'fail',
    message: error.message,
    code: error.code,
    // Relative, because a failure can come before there is a valid Host header (decision 0042).
    doc_url: `/docs/errors#${error.code}`,
    ...(error.detail.errors ? { errors: error.detail.errors } : {}),
    ...(error.detail.existing ? { existing: error.detail.existing } : {}),
    request_id: requestId,
    timestamp: toSeconds(now),
  };
}

/** The status is `error` for server errors and for the 401 of a protected endpoint, otherwise `fail`, as the contract states. */
function isServerError({ httpStatus, code }: ApiError, operation: Operation | undefined): boolean {
  const isOfBearer = operation?.credential === 'token' || code.startsWith('service_token');
  return httpStatus >= 500 || (httpStatus === 401 && isOfBearer);
}

const toSeconds = (date: Date) => Math.floor(date.getTime() / 1000);
