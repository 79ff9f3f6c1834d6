package example.crossdock;

import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Flow.Subscriber;

/** A multipart body with one file, which is read from the disk while it is sent, and can be sent again. */
final class FileForm implements BodyPublisher {
  private final String boundary = "crossdock-" + UUID.randomUUID();
  private final BodyPublisher publisher;
  private volatile long lastReadNanos = System.nanoTime();

  FileForm(Map<String, String> fields, String fileField, Path file) {
    StringBuilder head = new StringBuilder();
    fields.forEach((name, value) -> head.append(part("name=\"" + name + "\"")).append(value).append("\r\n"));
    String fileName = file.getFileName().toString().replaceAll("[\"\\r\\n]", "_");
    head.append(part("name=\"" + fileField + "\"; filename=\"" + fileName + "\""));
    String tail = "\r\n--" + boundary + "--\r\n";
    publisher =
        HttpRequest.BodyPublishers.ofInputStream(() -> observed(join(bytes(head.toString()), open(file), bytes(tail))));
  }

  /** When the last part was read, to be sent. */
  long lastReadNanos() {
    return lastReadNanos;
  }

  private InputStream observed(InputStream stream) {
    return new FilterInputStream(stream) {
      @Override
      public int read(byte[] into, int offset, int length) throws IOException {
        lastReadNanos = System.nanoTime();
        return super.read(into, offset, length);
      }
    };
  }

  String contentType() {
    return "multipart/form-data; boundary=" + boundary;
  }

  private String part(String disposition) {
    return "--" + boundary + "\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n";
  }

  private static InputStream join(InputStream... parts) {
    return new SequenceInputStream(Collections.enumeration(List.of(parts)));
  }

  private static InputStream bytes(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }

  private static InputStream open(Path file) {
    try {
      return Files.newInputStream(file);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Override
  public long contentLength() {
    return publisher.contentLength();
  }

  @Override
  public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
    publisher.subscribe(subscriber);
  }
}
