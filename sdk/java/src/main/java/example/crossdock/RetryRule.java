package example.crossdock;

import java.net.http.HttpRequest;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.concurrent.ThreadLocalRandom;

/** When a request is sent again. */
final class RetryRule {
  private final Crossdock.Builder settings;
  /** Whether every request may be executed twice. */
  private final boolean isHarmless;

  RetryRule(Crossdock.Builder settings, boolean isHarmless) {
    this.settings = settings;
    this.isHarmless = isHarmless;
  }

  /** Returns how long to wait before the next attempt, or null if there is none. */
  Duration waitAfter(CrossdockException failure, HttpRequest request, int retries, long startNanos) {
    if (retries >= settings.maxRetries || !isResendable(request) || !isTemporary(failure, request)) return null;
    if (failure.retryAfter().compareTo(settings.maxWait) > 0) return null;
    Duration pause = pause(retries);
    Duration wait = failure.retryAfter().compareTo(pause) > 0 ? failure.retryAfter() : pause;
    Duration begins = Duration.ofNanos(System.nanoTime() - startNanos).plus(wait);
    return begins.compareTo(settings.lastAttempt) > 0 ? null : wait;
  }

  private boolean isTemporary(CrossdockException failure, HttpRequest request) {
    if (failure instanceof ConnectionException)
      return !((ConnectionException) failure).wasSent() || isRepeatable(request);
    if (Defaults.RETRY_ALWAYS.contains(failure.status()) || Defaults.RETRY_CODES.contains(failure.code())) return true;
    return Defaults.RETRY_REPEATABLE.contains(failure.status()) && isRepeatable(request);
  }

  /** Whether a request can be sent again although the first one may have been executed. */
  private boolean isRepeatable(HttpRequest request) {
    // The base URL can have a path too.
    String path = request.uri().getPath();
    return isHarmless
        || Defaults.NOT_REPEATABLE.stream()
            .map(operation -> operation.split(" "))
            .noneMatch(operation -> operation[0].equals(request.method()) && path.endsWith(operation[1]));
  }

  /** Whether the body can be read again. The generated client reads each form from a pipe. */
  static boolean isResendable(HttpRequest request) {
    boolean isForm = request.headers().firstValue("Content-Type").orElse("").startsWith("multipart/");
    return !isForm || request.bodyPublisher().orElse(null) instanceof FileForm;
  }

  /** The pause doubles with each retry. A part of it is random, so that clients do not all return together. */
  private static Duration pause(int retries) {
    double longest = Defaults.FIRST_PAUSE_SECONDS * Math.pow(Defaults.PAUSE_FACTOR, retries);
    double random = 1 - Defaults.PAUSE_JITTER * ThreadLocalRandom.current().nextDouble();
    return Duration.ofMillis((long) (Math.min(Defaults.LONGEST_PAUSE_SECONDS, longest) * random * 1000));
  }

  /** Reads Retry-After, in seconds or as a date. Rounded up, so that the client never comes too early. */
  static Duration retryAfter(String value) {
    if (value.matches("\\d{1,9}")) return Duration.ofSeconds(Long.parseLong(value));
    try {
      ZonedDateTime date = ZonedDateTime.parse(value, DateTimeFormatter.RFC_1123_DATE_TIME);
      Duration wait = Duration.between(ZonedDateTime.now(), date).plusMillis(1);
      return wait.isNegative() ? Duration.ZERO : wait;
    } catch (DateTimeParseException noDate) {
      return Duration.ZERO;
    }
  }
}
