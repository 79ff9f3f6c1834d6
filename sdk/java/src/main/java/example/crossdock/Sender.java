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
    for (int retries = 0; ; retries++) {
      String token = tokens == null ? settings.token : tokens.get().getAccessToken();
      try {
        return new Attempt(http, settings.timeout).send(prepare(request, token, idempotencyKey), handler);
      } catch (CrossdockException failure) {
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

  /** How many pre-alerts a request of a batch has. */
  int batchLines() {
    return settings.batchLines;
  }

  boolean hasRetries() {
    return settings.maxRetries > 0;
  }

  /** Sends a request and returns the data of its response. */
  JsonNode sendForData(HttpRequest request, boolean isDivisible) throws InterruptedException {
    byte[] body = send(request, BodyHandlers.ofByteArray(), isDivisible).body();
    try {
      return JSON.readTree(body).get("data");
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
