import type { BatchResult } from './batch.js';
import type { ExistingPrealert, Failure, FailureCode, FieldError } from './generated/core/types.gen.js';

/** Every error that the SDK throws, except those of a caller's own AbortSignal. */
export class CrossdockError extends Error {
  override name = 'CrossdockError';
  /** With `submitBatch`: the results that arrived before the failure. */
  results: BatchResult[] = [];
}

/** There was no response, after all retries: no connection, a time limit, or a response that was lost or cut. */
export class ConnectionError extends CrossdockError {
  override name = 'ConnectionError';
  /** Whether the service may have received the request, and may have executed it. */
  wasSent = true;

  static of(cause: unknown): ConnectionError {
    const error = new ConnectionError('The service cannot be reached, or its response was lost.', { cause });
    error.wasSent = !isNotSent(cause);
    return error;
  }
}

/** Node.js says why there is no connection. Browsers do not. */
const NOT_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

function isNotSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && NOT_SENT.has(String(error.code))) || isNotSent(error.cause);
}

/** A request did not arrive in time, and can be divided. Not seen by callers. */
export class TooSlowError extends CrossdockError {
  override name = 'TooSlowError';
}

/** The service received fewer pre-alerts than were sent: something on the way has cut the request. Submit the batch again. */
export class IncompleteBatchError extends CrossdockError {
  override name = 'IncompleteBatchError';

  constructor(sent: number, received: number) {
    super(
      `The service received ${received} of ${sent} pre-alerts of a request. Submit them again: those that are stored are then duplicates.`,
    );
  }
}

/**
 * The sequence number is above the newest event: it is not one of this feed, for example after the service was restored from a backup. No
 * event would ever arrive.
 */
export class CursorAheadError extends CrossdockError {
  override name = 'CursorAheadError';
  /** The number that was given. */
  readonly after: number;
  /** The newest event of the feed. 0 if it has none. */
  readonly lastSequence: number;

  constructor(after: number, lastSequence: number) {
    super(
      `The events end with ${lastSequence}, before ${after}, for example after a restored backup. Read again from 0, and ignore known event_ids.`,
    );
    this.after = after;
    this.lastSequence = lastSequence;
  }
}

/** The service did not respond within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override name = 'TimeoutError';
}

/** The webhook is not authentic, or too old. */
export class WebhookVerificationError extends CrossdockError {
  override name = 'WebhookVerificationError';
}

/** A failure response. Compare `code`; its values are stable. The message is for people and may change. */
export class ApiError extends CrossdockError {
  override name = 'ApiError';
  readonly status: number;
  /** `unexpected_response` if the response is not from the service, for example an HTML page of a proxy. */
  readonly code: FailureCode | 'unexpected_response';
  /** The invalid fields, if single fields can be named. */
  readonly errors: FieldError[];
  /** Name it when you ask for support. */
  readonly requestId: string | undefined;
  /** How long the service asks to wait. */
  readonly retryAfterMs: number | undefined;
  readonly headers: Headers;
  /** The parsed body, or its text if it is not JSON. */
  readonly body: unknown;

  constructor({ status, headers }: Pick<Response, 'status' | 'headers'>, body: unknown) {
    const failure = isFailure(body) ? body : undefined;
    super(failure?.message ?? `The response has status ${status} and no failure body.`);
    this.status = status;
    this.code = failure?.code ?? 'unexpected_response';
    this.errors = failure?.errors ?? [];
    this.requestId = failure?.request_id ?? headers.get('x-request-id') ?? undefined;
    this.retryAfterMs = readRetryAfter(headers.get('retry-after'), Date.now());
    this.headers = headers;
    this.body = body;
  }
}

/** 400 or 422: a field is missing or not acceptable. */
export class InvalidRequestError extends ApiError {
  override name = 'InvalidRequestError';
}

/** 401: the credential is missing, wrong or expired. */
export class AuthenticationError extends ApiError {
  override name = 'AuthenticationError';
}

/** 403: the credential does not allow this. */
export class PermissionError extends ApiError {
  override name = 'PermissionError';
}

/** 404: the record does not exist, or is not yours. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}

/** 409: the request contradicts stored records, for example a duplicate. */
export class ConflictError extends ApiError {
  override name = 'ConflictError';
}

/** 409 with a code `duplicate_...`: the record exists already. */
export class DuplicateError extends ConflictError {
  override name = 'DuplicateError';
  /**
   * The stored pre-alert, if the code is `duplicate_tracking_number`. If `differs` is true, it belongs to another customer, and
   * yours was not stored.
   */
  readonly existing: ExistingPrealert | undefined;

  constructor(response: Pick<Response, 'status' | 'headers'>, body: unknown) {
    super(response, body);
    this.existing = isFailure(body) ? body.existing : undefined;
  }
}

/** 429: too many requests. `retryAfterMs` says how long to wait. */
export class RateLimitError extends ApiError {
  override name = 'RateLimitError';
}

/** 5xx: the fault is on the side of the service. */
export class ServerError extends ApiError {
  override name = 'ServerError';
}

const BY_STATUS: Record<number, typeof ApiError> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  422: InvalidRequestError,
  429: RateLimitError,
};

/** Returns the error of a failure response. */
export function errorOf(response: Pick<Response, 'status' | 'headers'>, body: unknown): ApiError {
  if (isFailure(body) && body.code.startsWith('duplicate_')) return new DuplicateError(response, body);
  const Kind = BY_STATUS[response.status] ?? (response.status >= 500 ? ServerError : ApiError);
  return new Kind(response, body);
}

function isFailure(body: unknown): body is Failure {
  return typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'string';
}

/** Returns the milliseconds of a `Retry-After` header in seconds or as a date. */
export function readRetryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d+$/.test(value.trim())) return Number(value) * 1000;
  const untilMs = Date.parse(value);
  return Number.isNaN(untilMs) ? undefined : Math.max(0, untilMs - nowMs);
}
