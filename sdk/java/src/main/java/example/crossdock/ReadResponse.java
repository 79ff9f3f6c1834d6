package example.crossdock;

import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Flow;
import javax.net.ssl.SSLSession;

/** A response that was read, with the body that its caller wants. */
final class ReadResponse<T> implements HttpResponse<T>, ResponseInfo {
  private final HttpResponse<InputStream> source;
  private final T body;

  private ReadResponse(HttpResponse<InputStream> source, T body) {
    this.source = source;
    this.body = body;
  }

  static <T> HttpResponse<T> of(HttpResponse<InputStream> source, BodyHandler<T> handler) {
    return new ReadResponse<>(source, convert(source, handler));
  }

  /** Gives the bytes to the handler, as the HTTP client does. The stream of a file stays as it is. */
  @SuppressWarnings("unchecked") // Callers read a file with BodyHandlers.ofInputStream().
  private static <T> T convert(HttpResponse<InputStream> source, BodyHandler<T> handler) {
    if (source.body() instanceof DownloadStream) return (T) source.body();
    BodySubscriber<T> subscriber = handler.apply(new ReadResponse<>(source, null));
    subscriber.onSubscribe(
        new Flow.Subscription() {
          @Override
          public void request(long count) {}

          @Override
          public void cancel() {}
        });
    subscriber.onNext(List.of(ByteBuffer.wrap(Attempt.bytesOf(source))));
    subscriber.onComplete();
    return subscriber.getBody().toCompletableFuture().join();
  }

  @Override
  public int statusCode() {
    return source.statusCode();
  }

  @Override
  public HttpHeaders headers() {
    return source.headers();
  }

  @Override
  public HttpClient.Version version() {
    return source.version();
  }

  @Override
  public T body() {
    return body;
  }

  @Override
  public HttpRequest request() {
    return source.request();
  }

  @Override
  public Optional<HttpResponse<T>> previousResponse() {
    return Optional.empty();
  }

  @Override
  public Optional<SSLSession> sslSession() {
    return source.sslSession();
  }

  @Override
  public URI uri() {
    return source.uri();
  }
}
