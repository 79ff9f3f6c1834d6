package example.crossdock;

import com.fasterxml.jackson.databind.ObjectMapper;
import example.crossdock.invoker.ApiClient;
import java.io.IOException;
import java.net.Authenticator;
import java.net.CookieHandler;
import java.net.ProxySelector;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.PushPromiseHandler;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;

/**
 * Sends the requests of the generated client: with a credential, repeated after a temporary failure, and with a
 * {@link CrossdockException} for each response that is no success.
 */
final class Sender extends HttpClient {
  /** Operations that change something and take no Idempotency-Key. */
  private static final Set<String> WITHOUT_IDEMPOTENCY_KEY =
      Set.of("login.php", "ChangePassword.php", "TwoFactor.php", "PasswordReset.php", "Sessions.php");

  private final HttpClient http;
  private final Crossdock.Builder settings;
  /** Null for a client without a login. */
  private final Tokens tokens;
  private final ObjectMapper json = ApiClient.createDefaultObjectMapper();

  Sender(Crossdock.Builder settings, Tokens tokens) {
    this.http = settings.http;
    this.settings = settings;
    this.tokens = tokens;
  }

  @Override
  public <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler) throws IOException, InterruptedException {
    String idempotencyKey = UUID.randomUUID().toString();
    boolean hasNewToken = false;
    for (int attempt = 0; ; attempt++) {
      String token = tokens == null ? settings.token : tokens.get().getAccessToken();
      HttpRequest prepared = prepare(request, token, idempotencyKey);
      Duration wait;
      try {
        HttpResponse<T> response = sendOnce(prepared, handler);
        return response;
      } catch (CrossdockException refusal) {
        if (refusal.status() == 401 && tokens != null && !hasNewToken && isResendable(request)) {
          tokens.forget(token);
          hasNewToken = true;
          continue;
        }
        wait = waitAfter(refusal, request, attempt);
        if (wait.compareTo(settings.maxWait) > 0) throw refusal;
      } catch (IOException broken) {
        if (attempt >= settings.maxRetries || !isRepeatable(request)) throw broken;
        wait = backoff(attempt);
      }
      Thread.sleep(wait.toMillis());
    }
  }

  private HttpRequest prepare(HttpRequest request, String token, String idempotencyKey) {
    HttpRequest.Builder copy = HttpRequest.newBuilder(request.uri());
    request.headers().map().forEach((name, values) -> values.forEach(value -> copy.header(name, value)));
    copy.method(request.method(), request.bodyPublisher().orElse(HttpRequest.BodyPublishers.noBody()));
    request.timeout().ifPresent(copy::timeout);
    boolean hasKey = request.headers().firstValue("Idempotency-Key").isPresent();
    if (request.method().equals("POST") && !hasKey) copy.header("Idempotency-Key", idempotencyKey);
    // The client of the login has no tokens, and the login takes no credential.
    boolean isLogin = settings.username != null && tokens == null;
    if (token != null && !isLogin) copy.header("Authorization", "Bearer " + token);
    if (settings.apiKey != null) copy.header("X-API-KEY", settings.apiKey);
    return copy.build();
  }

  private <T> HttpResponse<T> sendOnce(HttpRequest request, BodyHandler<T> handler) throws IOException, InterruptedException {
    HttpResponse<Object> response =
        http.send(
            request,
            info ->
                info.statusCode() < 300
                    ? BodySubscribers.mapping(handler.apply(info), body -> (Object) body)
                    : BodySubscribers.mapping(BodySubscribers.ofByteArray(), RefusalBody::new));
    if (!(response.body() instanceof RefusalBody)) {
      @SuppressWarnings("unchecked") // The handler of a success creates the body.
      HttpResponse<T> success = (HttpResponse<T>) (HttpResponse<?>) response;
      return success;
    }
    throw CrossdockException.read(
        response.statusCode(),
        ((RefusalBody) response.body()).bytes,
        response.headers().firstValue("X-Request-Id").orElse(null),
        retryAfter(response.headers().firstValue("Retry-After").orElse("")),
        json);
  }

  private static final class RefusalBody {
    final byte[] bytes;

    RefusalBody(byte[] bytes) {
      this.bytes = bytes;
    }
  }

  private static final Duration NEVER = Duration.ofDays(365);

  private Duration waitAfter(CrossdockException refusal, HttpRequest request, int attempt) {
    int status = refusal.status();
    // 409 with Retry-After: the first request with this Idempotency-Key is still running.
    boolean isNotExecuted = status == 429 || (status == 409 && !refusal.retryAfter().isZero());
    boolean isUnavailable = status == 502 || status == 503 || status == 504;
    boolean isTemporary = (isNotExecuted && isResendable(request)) || (isUnavailable && isRepeatable(request));
    if (!isTemporary || attempt >= settings.maxRetries) return NEVER;
    Duration own = backoff(attempt);
    return refusal.retryAfter().compareTo(own) > 0 ? refusal.retryAfter() : own;
  }

  /** Whether a request can be sent again although the first one may have been executed. */
  private static boolean isRepeatable(HttpRequest request) {
    String path = request.uri().getPath();
    boolean hasKey = !WITHOUT_IDEMPOTENCY_KEY.contains(path.substring(path.lastIndexOf('/') + 1));
    return isResendable(request) && (hasKey || !request.method().equals("POST"));
  }

  /** Whether the body can be read again. The generated client reads each form from a pipe. */
  private static boolean isResendable(HttpRequest request) {
    boolean isForm = request.headers().firstValue("Content-Type").orElse("").startsWith("multipart/");
    return !isForm || request.bodyPublisher().orElse(null) instanceof FileForm;
  }

  /** Half a second, doubled with each attempt, with jitter. */
  private static Duration backoff(int attempt) {
    double seconds = 0.5 * Math.pow(2, attempt) * (0.5 + ThreadLocalRandom.current().nextDouble() / 2);
    return Duration.ofMillis((long) (seconds * 1000));
  }

  /** Reads Retry-After, in seconds or as a date. Rounded up, so that the client never comes too early. */
  private static Duration retryAfter(String value) {
    if (value.matches("\\d{1,9}")) return Duration.ofSeconds(Long.parseLong(value));
    try {
      ZonedDateTime date = ZonedDateTime.parse(value, DateTimeFormatter.RFC_1123_DATE_TIME);
      Duration wait = Duration.between(ZonedDateTime.now(), date).plusMillis(1);
      return wait.isNegative() ? Duration.ZERO : wait;
    } catch (DateTimeParseException noDate) {
      return Duration.ZERO;
    }
  }

  @Override
  public <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpRequest request, BodyHandler<T> handler) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return send(request, handler);
          } catch (IOException failure) {
            throw new CompletionException(failure);
          } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new CompletionException(interrupted);
          }
        });
  }

  @Override
  public <T> CompletableFuture<HttpResponse<T>> sendAsync(
      HttpRequest request, BodyHandler<T> handler, PushPromiseHandler<T> pushes) {
    return sendAsync(request, handler);
  }

  @Override
  public Optional<CookieHandler> cookieHandler() {
    return http.cookieHandler();
  }

  @Override
  public Optional<Duration> connectTimeout() {
    return http.connectTimeout();
  }

  @Override
  public Redirect followRedirects() {
    return http.followRedirects();
  }

  @Override
  public Optional<ProxySelector> proxy() {
    return http.proxy();
  }

  @Override
  public SSLContext sslContext() {
    return http.sslContext();
  }

  @Override
  public SSLParameters sslParameters() {
    return http.sslParameters();
  }

  @Override
  public Optional<Authenticator> authenticator() {
    return http.authenticator();
  }

  @Override
  public Version version() {
    return http.version();
  }

  @Override
  public Optional<Executor> executor() {
    return http.executor();
  }
}
