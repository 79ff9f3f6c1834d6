package example.crossdock;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class TimesTest {
  @Test
  void readsATimeAsUtc() {
    assertEquals(Instant.ofEpochSecond(1_795_383_600), Times.parse("2026-11-22 21:40:00"));
    assertEquals(Instant.ofEpochSecond(1_795_383_600), Times.parse("2026-11-22T21:40:00Z"));
  }

  @Test
  void writesATimeInUtc() {
    assertEquals("2026-11-22 21:40:00", Times.format(Instant.ofEpochSecond(1_795_383_600)));
  }
}
