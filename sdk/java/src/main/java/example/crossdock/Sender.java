package example.crossdock;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.UUID;

/**
 * Sends the requests of the generated client: with a credential, repeated after a temporary failure, with a {@link
 * CrossdockException} for each response that is no success, and with a {@link ConnectionException} if there was none.
 */
final class Sender extends ForwardingHttpClient {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Crossdock.Builder settings;
  /** Null for a client without a login. */
  private final Tokens tokens;
  private final RetryRule rule;

  Sender(Crossdock.Builder settings, Tokens tokens) {
    this(settings, tokens, new RetryRule(settings, false));
  }

  private Sender(Crossdock.Builder settings, Tokens tokens, RetryRule rule) {
    super(settings.http);
    this.settings = settings;
    this.tokens = tokens;
    this.rule = rule;
  }

  /** Sends passwords. Another login only creates another session, so that it can be repeated. */
  static Sender forPasswords(Crossdock.Builder settings) {
    return new Sender(settings, null, new RetryRule(settings, true));
  }

  @Override
  public <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler) throws InterruptedException {
    return send(request, handler, false);
  }

  /**
   * @param isDivisible whether the caller divides the request after 408, so that it is not sent again as a whole
   */
  private <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler, boolean isDivisible)
      throws InterruptedException {
    String idempotencyKey = UUID.randomUUID().toString();
    long start = System.nanoTime();
    boolean hasNewToken = false;
    int sent = 0;
    for (int retries = 0; ; retries++) {
      String token = tokens == null ? settings.token : tokens.get().getAccessToken();
      long begin = System.nanoTime();
      sent++;
      try {
        HttpResponse<T> response =
            new Attempt(http, settings.timeout).send(prepare(request, token, idempotencyKey), handler);
        String requestId = response.headers().firstValue("X-Request-Id").orElse(null);
        report(request, sent, begin, response.statusCode(), requestId, null);
        return response;
      } catch (CrossdockException failure) {
        report(request, sent, begin, failure.status(), failure.requestId(), failure);
        if (failure.status() == 401 && tokens != null && !hasNewToken && RetryRule.isResendable(request)) {
          // A refused request was not executed, so that this is no retry.
          tokens.forget(token);
          hasNewToken = true;
          retries--;
          continue;
        }
        if (isDivisible && failure.status() == 408) throw failure;
        Duration wait = rule.waitAfter(failure, request, retries, start);
        if (wait == null) throw failure;
        Thread.sleep(wait.toMillis());
      }
    }
  }

  /** Calls the hook. A log that fails does not fail the call. */
  private void report(
      HttpRequest request, int sent, long begin, int status, String requestId, CrossdockException failure) {
    if (settings.onAttempt == null) return;
    Duration duration = Duration.ofNanos(System.nanoTime() - begin);
    try {
      settings.onAttempt.accept(
          new AttemptReport(operationOf(request), sent, duration, status, requestId, failure));
    } catch (RuntimeException ignored) {
      // The call goes on.
    }
  }

  /** The base URL can have a path too. An operation with a parameter in its path has a brace there. */
  private static String operationOf(HttpRequest request) {
    String path = request.uri().getPath();
    String found = "";
    for (String operation : Defaults.OPERATIONS) {
      String[] parts = operation.split(" ");
      if (!parts[0].equals(request.method())) continue;
      if (path.endsWith(parts[1])) return parts[2];
      int brace = parts[1].indexOf('{');
      if (brace > 0 && path.contains(parts[1].substring(0, brace))) found = parts[2];
    }
    return found;
  }

  int pageSize() {
    return settings.pageSize;
  }

  /** How many pre-alerts a request of a batch has. */
  int batchLines() {
    return settings.batchLines;
  }

  boolean hasRetries() {
    return settings.maxRetries > 0;
  }

  /** Sends a request and returns the data of its response. */
  JsonNode sendForData(HttpRequest request, boolean isDivisible) throws InterruptedException {
    return sendForJson(request, isDivisible).get("data");
  }

  /** Sends a request and returns its response. */
  JsonNode sendForJson(HttpRequest request, boolean isDivisible) throws InterruptedException {
    byte[] body = send(request, BodyHandlers.ofByteArray(), isDivisible).body();
    try {
      return JSON.readTree(body);
    } catch (IOException failure) {
      throw new IllegalStateException("The response was complete JSON before.", failure);
    }
  }

  interface Work {
    void run() throws IOException, InterruptedException;
  }

  /** Does work with the response to a request, and again while the connection breaks in it. */
  void repeat(HttpRequest request, Work work) throws IOException, InterruptedException {
    long start = System.nanoTime();
    for (int retries = 0; ; retries++) {
      try {
        work.run();
        return;
      } catch (ConnectionException failure) {
        Duration wait = rule.waitAfter(failure, request, retries, start);
        if (wait == null) throw failure;
        Thread.sleep(wait.toMillis());
      }
    }
  }

  private HttpRequest prepare(HttpRequest request, String token, String idempotencyKey) {
    HttpRequest.Builder copy = HttpRequest.newBuilder(request.uri());
    request.headers().map().forEach((name, values) -> values.forEach(value -> copy.header(name, value)));
    copy.method(request.method(), request.bodyPublisher().orElse(HttpRequest.BodyPublishers.noBody()));
    copy.setHeader("User-Agent", Defaults.USER_AGENT);
    boolean hasKey = request.headers().firstValue("Idempotency-Key").isPresent();
    if (request.method().equals("POST") && !hasKey) copy.header("Idempotency-Key", idempotencyKey);
    // The client of the login has no tokens, and the login takes no credential.
    boolean isLogin = settings.username != null && tokens == null;
    if (token != null && !isLogin) copy.header("Authorization", "Bearer " + token);
    if (settings.apiKey != null) copy.header("X-API-KEY", settings.apiKey);
    return copy.build();
  }
}
