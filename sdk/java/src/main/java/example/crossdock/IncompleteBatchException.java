package example.crossdock;

/** The service received fewer pre-alerts than were sent: something on the way has cut the request. Submit the batch again. */
public final class IncompleteBatchException extends CrossdockException {
  private static final long serialVersionUID = 1L;

  private final transient PrealertBatches.Result result;

  IncompleteBatchException(PrealertBatches.Result result, int sent) {
    super(
        "The service received "
            + result.results.size()
            + " of "
            + sent
            + " pre-alerts of a request. Submit them again: those that are stored are then duplicates.",
        null);
    this.result = result;
  }

  /** What the service received. */
  public PrealertBatches.Result result() {
    return result;
  }
}
