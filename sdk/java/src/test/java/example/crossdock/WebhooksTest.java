package example.crossdock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WebhooksTest {
  private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  private static final String OTHER_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx";
  private static final String TIMESTAMP = "1795249800";
  private static final Instant NOW = Instant.ofEpochSecond(1_795_249_800);
  private static final String BODY = "{\"type\":\"package.created\",\"shipper\":\"Café Müller\"}";
  private static final String VALID = signatureWith(SECRET);
  private static final String OTHER = signatureWith(OTHER_SECRET);

  private static String signatureWith(String secret) {
    byte[] mac = Webhooks.sign(secret, "evt_1." + TIMESTAMP + ".", BODY.getBytes(StandardCharsets.UTF_8));
    return "v1," + Base64.getEncoder().encodeToString(mac);
  }

  private static void check(boolean expected, String signature, String body, Instant now, String... secrets) {
    Map<String, String> headers =
        Map.of("webhook-id", "evt_1", "webhook-timestamp", TIMESTAMP, "webhook-signature", signature);
    assertEquals(expected, Webhooks.verify(body.getBytes(StandardCharsets.UTF_8), headers::get, now, secrets));
  }

  @Test
  void acceptsAnyOfSeveralSignaturesAndSecrets() {
    check(true, VALID, BODY, NOW, SECRET);
    check(true, OTHER + " v1a,x " + VALID, BODY, NOW, SECRET);
    check(true, VALID, BODY, NOW, OTHER_SECRET, SECRET);
  }

  @Test
  void rejectsAChangedBodyAndOtherSignatures() {
    check(false, VALID, BODY + " ", NOW, SECRET);
    check(false, OTHER, BODY, NOW, SECRET);
    check(false, "v2," + VALID.substring(3), BODY, NOW, SECRET);
    check(false, "", BODY, NOW, SECRET);
    check(false, VALID, BODY, NOW);
  }

  @Test
  void acceptsFiveMinutesBetweenTheClocksAndNoMore() {
    check(true, VALID, BODY, NOW.plusSeconds(300), SECRET);
    check(false, VALID, BODY, NOW.plusSeconds(301), SECRET);
    check(false, VALID, BODY, NOW.minusSeconds(301), SECRET);
  }

  @Test
  void saysThatTheSecretIsMissingOrNotBase64() {
    byte[] body = BODY.getBytes(StandardCharsets.UTF_8);
    for (String secret : new String[] {null, "", "whsec_", "whsec_!!!!"}) {
      IllegalArgumentException failure =
          assertThrows(IllegalArgumentException.class, () -> Webhooks.verify(body, name -> null, NOW, secret));
      assertTrue(failure.getMessage().contains("Copy it from the settings"), failure.getMessage());
    }
    String[] none = null;
    assertThrows(IllegalArgumentException.class, () -> Webhooks.verify(body, name -> null, NOW, none));
  }

  @Test
  void rejectsAWebhookWithoutHeaders() {
    assertEquals(false, Webhooks.verify(BODY.getBytes(StandardCharsets.UTF_8), name -> null, NOW, SECRET));
  }
}
