import { ApiError } from './errors.js';

/** One attempt of a call. It has no credential, no body, no query and no record, so that it can be logged. */
export type AttemptReport = {
  /** The `operationId` of the API reference. */
  operation: string;
  /** Counts from 1. A later one is a repetition, or follows a new login. */
  attempt: number;
  /** Until the whole response was read, for a file until it begins. */
  durationMs: number;
  /** The HTTP status. Undefined if there was no response, or one that is not of the service. */
  status: number | undefined;
  /** Name it when you ask for support. */
  requestId: string | undefined;
  /** The error of the attempt, if it was no success. The call can still succeed with another attempt. */
  error: Error | undefined;
};

export type OnAttempt = (report: AttemptReport) => void;

/** Calls the hook with the result of an attempt. A log that fails does not fail the call. */
export function report(
  onAttempt: OnAttempt | undefined,
  operation: string,
  attempt: number,
  beganMs: number,
  result: { response: Response } | { error: Error },
): void {
  if (!onAttempt) return;
  const durationMs = performance.now() - beganMs;
  const error = 'error' in result ? result.error : undefined;
  const refusal = error instanceof ApiError ? error : undefined;
  const response = 'response' in result ? result.response : refusal;
  const requestId = response?.headers.get('x-request-id') ?? undefined;
  try {
    onAttempt({ operation, attempt, durationMs, status: response?.status, requestId, error });
  } catch {
    // A log that fails does not fail the call.
  }
}
