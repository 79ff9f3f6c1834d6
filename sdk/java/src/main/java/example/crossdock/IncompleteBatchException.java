package example.crossdock;

/** The service received fewer pre-alerts than were sent: something on the way has cut the request. Submit the batch again. */
public final class IncompleteBatchException extends CrossdockException {
  private static final long serialVersionUID = 1L;

  IncompleteBatchException(int received, int sent) {
    super(
        "The service received "
            + received
            + " of "
            + sent
            + " pre-alerts of a request. Submit them again: those that are stored are then duplicates.",
        null);
  }

  /** What the service received, the same as {@link #batch()}. */
  public PrealertBatches.Result result() {
    return batch();
  }
}
