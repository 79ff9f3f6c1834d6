package example.crossdock;

import com.fasterxml.jackson.databind.ObjectMapper;
import example.crossdock.invoker.ApiClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Sends a request once. A response in JSON is read to its end, so that one that breaks in its body is no success. The time limit is
 * for the whole attempt. For a file it is the longest time without progress.
 */
final class Attempt {
  private static final ObjectMapper JSON = ApiClient.createDefaultObjectMapper();

  private final HttpClient http;
  private final Duration limit;

  Attempt(HttpClient http, Duration limit) {
    this.http = http;
    this.limit = limit;
  }

  <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler) throws InterruptedException {
    // The base URL can have a path too.
    boolean isFile = Defaults.FILE_PATHS.stream().anyMatch(request.uri().getPath()::contains);
    HttpResponse<InputStream> response = await(request, isFile ? this::streamed : Attempt::whole);
    int status = response.statusCode();
    if (status >= 300) throw refusalOf(response);
    if (isFile) requireFile(response);
    else requireOurs(response);
    return ReadResponse.of(response, handler);
  }

  /** A failure of a file is read whole, as every other response is. */
  private BodySubscriber<InputStream> streamed(HttpResponse.ResponseInfo info) {
    if (info.statusCode() >= 300) return whole(info);
    return BodySubscribers.mapping(BodySubscribers.ofInputStream(), stream -> new DownloadStream(stream, limit));
  }

  private static BodySubscriber<InputStream> whole(HttpResponse.ResponseInfo info) {
    return BodySubscribers.mapping(BodySubscribers.ofByteArray(), ByteArrayInputStream::new);
  }

  private HttpResponse<InputStream> await(HttpRequest request, BodyHandler<InputStream> handler)
      throws InterruptedException {
    FileForm form = request.bodyPublisher().filter(FileForm.class::isInstance).map(FileForm.class::cast).orElse(null);
    long start = System.nanoTime();
    CompletableFuture<HttpResponse<InputStream>> pending = http.sendAsync(request, handler);
    try {
      while (true) {
        long progress = form == null ? start : Math.max(start, form.lastReadNanos());
        long left = limit.toNanos() - (System.nanoTime() - progress);
        try {
          return pending.get(Math.max(0, left), TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
          if (form == null || form.lastReadNanos() <= progress) throw ConnectionException.timeout(limit);
        }
      }
    } catch (ExecutionException failure) {
      throw new ConnectionException(failure.getCause(), wasSent(failure.getCause()));
    } finally {
      pending.cancel(true);
    }
  }

  private static boolean wasSent(Throwable failure) {
    return !(failure instanceof ConnectException || failure instanceof HttpConnectTimeoutException);
  }

  private static CrossdockException refusalOf(HttpResponse<InputStream> response) {
    return CrossdockException.read(
        response.statusCode(),
        bytesOf(response),
        response.headers().firstValue("X-Request-Id").orElse(null),
        RetryRule.retryAfter(response.headers().firstValue("Retry-After").orElse("")),
        JSON);
  }

  /** Every success of the service in JSON has a status. A proxy may answer with JSON of its own. */
  private static void requireOurs(HttpResponse<InputStream> response) {
    boolean isJson = typeOf(response).contains("json");
    byte[] bytes = bytesOf(response);
    try {
      String status = isJson ? JSON.readTree(bytes).path("status").asText() : "";
      if (status.equals("success") || status.equals("2fa_required")) return;
    } catch (IOException incomplete) {
      throw new ConnectionException(incomplete, true);
    }
    throw notOurs();
  }

  /** A file is never JSON or a page, which a proxy may send. */
  private static void requireFile(HttpResponse<InputStream> response) {
    String type = typeOf(response);
    if (!type.contains("json") && !type.contains("html")) return;
    try {
      response.body().close();
    } catch (IOException broken) {
      // It is not needed.
    }
    throw notOurs();
  }

  private static ConnectionException notOurs() {
    return new ConnectionException(new IOException("The response is not one of the service."), true);
  }

  private static String typeOf(HttpResponse<InputStream> response) {
    return response.headers().firstValue("Content-Type").orElse("");
  }

  /** Returns the bytes, which are in memory, and leaves the stream at its start. */
  static byte[] bytesOf(HttpResponse<InputStream> response) {
    try {
      byte[] bytes = response.body().readAllBytes();
      response.body().reset();
      return bytes;
    } catch (IOException failure) {
      throw new IllegalStateException("A stream in memory failed.", failure);
    }
  }
}
