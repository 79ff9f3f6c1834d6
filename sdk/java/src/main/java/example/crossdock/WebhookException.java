package example.crossdock;

/** A webhook that is not from the service, was changed, or is too old. */
public final class WebhookException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  WebhookException(String message) {
    super(message);
  }
}
