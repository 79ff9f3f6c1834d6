package example.crossdock;

import java.time.Duration;

/**
 * One attempt of a call, for {@link Crossdock.Builder#onAttempt}. It has no credential, no body, no query and no record, so that it can
 * be logged.
 */
public final class AttemptReport {
  private final String operation;
  private final int attempt;
  private final Duration duration;
  private final int status;
  private final String requestId;
  private final CrossdockException failure;

  AttemptReport(
      String operation, int attempt, Duration duration, int status, String requestId, CrossdockException failure) {
    this.operation = operation;
    this.attempt = attempt;
    this.duration = duration;
    this.status = status;
    this.requestId = requestId;
    this.failure = failure;
  }

  /** The operation, as the API reference names it. */
  public String operation() {
    return operation;
  }

  /** Counts from 1. A later one is a repetition, or follows a new login. */
  public int attempt() {
    return attempt;
  }

  /** Until the whole response was read, for a file until it begins. */
  public Duration duration() {
    return duration;
  }

  /** The HTTP status, or 0 if there was no response. */
  public int status() {
    return status;
  }

  /** Identifies the request in the service's log. Null if there was no response. */
  public String requestId() {
    return requestId;
  }

  /** The error of the attempt, or null for a success. The call can still succeed with another attempt. */
  public CrossdockException failure() {
    return failure;
  }
}
