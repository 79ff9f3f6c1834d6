package example.crossdock;

import java.time.Duration;

/**
 * There was no response, after all retries: no connection, a time limit, or a connection that broke before the whole response was
 * read.
 */
public final class ConnectionException extends CrossdockException {
  private static final long serialVersionUID = 1L;

  private final boolean wasSent;
  private final boolean isTimeout;

  ConnectionException(Throwable cause, boolean wasSent) {
    this("No response from the service: " + cause, cause, wasSent, false);
  }

  private ConnectionException(String message, Throwable cause, boolean wasSent, boolean isTimeout) {
    super(message, cause);
    this.wasSent = wasSent;
    this.isTimeout = isTimeout;
  }

  static ConnectionException timeout(Duration limit) {
    String message = "No response from the service within " + limit.toMillis() + " ms.";
    return new ConnectionException(message, null, true, true);
  }

  /** Whether the service may have received the request, and may have executed it. */
  public boolean wasSent() {
    return wasSent;
  }

  /** Whether the time limit of the last attempt passed. */
  public boolean isTimeout() {
    return isTimeout;
  }
}
