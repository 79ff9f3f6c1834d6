package example.crossdock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import example.crossdock.model.PrealertSubmission;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class CrossdockTest {
  private static final String URL = "https://demo.crossdock.example";

  @Test
  void saysThatACredentialIsMissing() {
    List<Executable> calls =
        List.of(
            () -> Crossdock.at(null),
            () -> Crossdock.at(URL).apiKey(null),
            () -> Crossdock.at(URL).apiKey(""),
            () -> Crossdock.at(URL).login(null, "secret"),
            () -> Crossdock.at(URL).login("iex", null),
            () -> Crossdock.at(URL).token(null));
    for (Executable call : calls) {
      IllegalArgumentException failure = assertThrows(IllegalArgumentException.class, call);
      assertTrue(failure.getMessage().contains("is null or empty. Check the environment variable"), failure.getMessage());
    }
  }

  @Test
  void aServiceTokenIsNoApiKey() {
    IllegalArgumentException failure =
        assertThrows(IllegalArgumentException.class, () -> Crossdock.at(URL).apiKey("cdk_abc"));
    assertTrue(failure.getMessage().contains("Use token(...)"), failure.getMessage());
  }

  @Test
  void throwsItsOwnExceptionIfNobodyListens() {
    // Port 9 of this machine is closed.
    Crossdock crossdock =
        Crossdock.at("http://127.0.0.1:9").apiKey("key").retries(0, Duration.ofMinutes(1)).build();
    PrealertSubmission prealert = new PrealertSubmission().userCode("IEX-1001").trackingNumber("1Z");
    ConnectionException failure =
        assertThrows(ConnectionException.class, () -> crossdock.prealerts().submitPrealert(prealert, null));
    assertFalse(failure.wasSent());
    assertEquals(0, failure.status());
  }

  @Test
  void readsRetryAfter() {
    assertEquals(Duration.ZERO, RetryRule.retryAfter("soon"));
    assertEquals(Duration.ofSeconds(2), RetryRule.retryAfter("2"));
    assertEquals(Duration.ZERO, RetryRule.retryAfter("Thu, 1 Jan 1970 00:00:00 GMT"));
  }
}
