import type { ApiError, FailureCode, FieldError } from '../../errors/errors.js';
import type { Operation } from '../../contract/types.js';
import { formatDateTime } from '../../values/time.js';

export type FailureBody = {
  status: 'fail' | 'error';
  message: string;
  code: FailureCode;
  errors?: FieldError[];
  request_id: string;
  timestamp: number;
};

/** The success envelope around a handler's bare answer. */
export function wrapSuccess(
  operationId: string,
  bare: Record<string, unknown>,
  now: Date,
): Record<string, unknown> {
  const { statusCode: _, ...fields } = bare;
  // ManageManifest's success alone shows a date-time: its clients were promised that
  const timestamp = operationId === 'manageManifest' ? formatDateTime(now) : toSeconds(now);
  return { status: 'success', ...fields, timestamp };
}

/** The failure envelope; `operation` is undefined where no operation was reached. */
export function wrapFailure(
  fault: ApiError,
  operation: Operation | undefined,
  requestId: string,
  now: Date,
): FailureBody {
  return {
    status: isServerError(fault, operation) ? 'error' : 'fail',
    message: fault.message,
    code: fault.code,
    ...(fault.detail.errors ? { errors: fault.detail.errors } : {}),
    request_id: requestId,
    timestamp: toSeconds(now),
  };
}

/** `error` is for what the request cannot mend: our faults, and a protected endpoint's 401. */
function isServerError({ httpStatus }: ApiError, operation: Operation | undefined): boolean {
  return httpStatus >= 500 || (httpStatus === 401 && operation?.credential === 'token');
}

const toSeconds = (date: Date) => Math.floor(date.getTime() / 1000);
