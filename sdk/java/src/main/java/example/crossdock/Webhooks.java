package example.crossdock;

import com.fasterxml.jackson.databind.ObjectMapper;
import example.crossdock.records.Event;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.function.Function;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Verifies webhooks. */
public final class Webhooks {
  /** How far the timestamp of a webhook may be from the clock of the receiver. */
  public static final Duration TOLERANCE = Duration.ofMinutes(5);

  private static final ObjectMapper JSON = new ObjectMapper();

  private Webhooks() {}

  /**
   * Returns whether a webhook is from the service, unchanged and not too old. After a rotation of the secret, give both secrets
   * until the old one is no longer used.
   *
   * @param body the bytes as received
   * @param header returns the value of a header by its lower-case name, or null
   * @param secrets each begins with {@code whsec_}
   * @throws IllegalArgumentException if a secret is missing or not base64
   */
  public static boolean verify(byte[] body, Function<String, String> header, String... secrets) {
    return verify(body, header, Instant.now(), secrets);
  }

  /**
   * Verifies a webhook as {@link #verify} does, and returns its event as the class of its type. For the package format flat, which has
   * no events, use {@code verify}.
   *
   * @throws WebhookException if the webhook is not from the service, was changed, or is too old
   */
  public static Event parse(byte[] body, Function<String, String> header, String... secrets) {
    if (!verify(body, header, secrets))
      throw new WebhookException("The webhook is not authentic, or too old. Respond with 401 and ignore it.");
    try {
      return Event.of(JSON.readTree(body));
    } catch (IOException notJson) {
      throw new WebhookException("The body of the webhook is not JSON.");
    }
  }

  static boolean verify(byte[] body, Function<String, String> header, Instant now, String... secrets) {
    // verify(body, header, null) has no array at all.
    byte[][] keys = Arrays.stream(secrets == null ? new String[] {null} : secrets).map(Webhooks::keyOf).toArray(byte[][]::new);
    String id = header.apply("webhook-id");
    String timestamp = header.apply("webhook-timestamp");
    String signatures = header.apply("webhook-signature");
    if (id == null || signatures == null || timestamp == null || !timestamp.matches("\\d{1,12}")) return false;
    Instant sentAt = Instant.ofEpochSecond(Long.parseLong(timestamp));
    if (Duration.between(sentAt, now).abs().compareTo(TOLERANCE) > 0) return false;
    return Arrays.stream(keys)
        .map(key -> sign(key, id + "." + timestamp + ".", body))
        .anyMatch(expected -> hasSignature(signatures, expected));
  }

  private static byte[] keyOf(String secret) {
    try {
      byte[] key = secret == null ? new byte[0] : Base64.getDecoder().decode(secret.replaceFirst("^whsec_", ""));
      if (key.length > 0) return key;
    } catch (IllegalArgumentException notBase64) {
      // The message below says what to do.
    }
    throw new IllegalArgumentException(
        "The webhook secret is missing, or is not whsec_ and base64. Copy it from the settings.");
  }

  static byte[] sign(String secret, String head, byte[] body) {
    return sign(keyOf(secret), head, body);
  }

  private static byte[] sign(byte[] key, String head, byte[] body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      mac.update(head.getBytes(StandardCharsets.UTF_8));
      return mac.doFinal(body);
    } catch (GeneralSecurityException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** Reads a list such as {@code v1,<base64> v1,<base64>}. The comparison takes constant time. */
  private static boolean hasSignature(String list, byte[] expected) {
    byte[] encoded = Base64.getEncoder().encode(expected);
    return Arrays.stream(list.split(" "))
        .filter(entry -> entry.startsWith("v1,"))
        .map(entry -> entry.substring(3).getBytes(StandardCharsets.UTF_8))
        .anyMatch(signature -> MessageDigest.isEqual(signature, encoded));
  }
}
