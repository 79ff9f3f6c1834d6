package example.crossdock;

import java.time.Instant;

/** Times of the API. */
public final class Times {
  private Times() {}

  /** Returns the time that a text of a response or a webhook means. It names no zone, and is in UTC. */
  public static Instant parse(String text) {
    return Instant.parse(text.replace(' ', 'T') + "Z");
  }
}
