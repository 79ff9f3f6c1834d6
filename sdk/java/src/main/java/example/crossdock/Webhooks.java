package example.crossdock;

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

  private Webhooks() {}

  /**
   * Returns whether a webhook is from the service, unchanged and not too old. After a rotation of the secret, give both secrets
   * until the old one is no longer used.
   *
   * @param body the bytes as received
   * @param header returns the value of a header by its lower-case name, or null
   * @param secrets each begins with {@code whsec_}
   */
  public static boolean verify(byte[] body, Function<String, String> header, String... secrets) {
    return verify(body, header, Instant.now(), secrets);
  }

  static boolean verify(byte[] body, Function<String, String> header, Instant now, String... secrets) {
    String id = header.apply("webhook-id");
    String timestamp = header.apply("webhook-timestamp");
    String signatures = header.apply("webhook-signature");
    if (id == null || signatures == null || timestamp == null || !timestamp.matches("\\d{1,12}")) return false;
    Instant sentAt = Instant.ofEpochSecond(Long.parseLong(timestamp));
    if (Duration.between(sentAt, now).abs().compareTo(TOLERANCE) > 0) return false;
    return Arrays.stream(secrets)
        .map(secret -> sign(secret, id + "." + timestamp + ".", body))
        .anyMatch(expected -> hasSignature(signatures, expected));
  }

  static byte[] sign(String secret, String head, byte[] body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret.replaceFirst("^whsec_", "")), "HmacSHA256"));
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
