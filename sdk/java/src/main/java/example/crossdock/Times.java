package example.crossdock;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Times of the API. */
public final class Times {
  private static final DateTimeFormatter TEXT =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss").withZone(ZoneOffset.UTC);

  private Times() {}

  /** Returns the time that a text of a response or a webhook means. It is in UTC, also if it names no zone. */
  public static Instant parse(String text) {
    return Instant.parse(text.replaceFirst(" (.*)", "T$1Z"));
  }

  /** Returns a time as the classes of {@code example.crossdock.model} take it: in UTC, without a zone. */
  public static String format(Instant time) {
    return TEXT.format(time);
  }
}
