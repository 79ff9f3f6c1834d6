package example.crossdock;

/**
 * A sequence number is above the newest event: it is not one of this feed, for example after the service was restored from a backup. No
 * event would ever arrive. Read again from 0, and ignore the events whose {@code event_id} you know.
 */
public final class CursorAheadException extends CrossdockException {
  private static final long serialVersionUID = 1L;

  private final int after;
  private final int lastSequence;

  CursorAheadException(int after, int lastSequence) {
    super(
        "The events end with "
            + lastSequence
            + ", before "
            + after
            + ", for example because the service was restored from a backup. Read again from 0, and ignore the events whose event_id you know.",
        null);
    this.after = after;
    this.lastSequence = lastSequence;
  }

  /** The number that was given. */
  public int after() {
    return after;
  }

  /** The newest event of the feed. 0 if it has none. */
  public int lastSequence() {
    return lastSequence;
  }
}
