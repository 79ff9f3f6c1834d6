package example.crossdock;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A file on its way from the service. A read that gets nothing within the time limit ends with a {@link ConnectionException}. */
final class DownloadStream extends FilterInputStream {
  private static final ScheduledThreadPoolExecutor TIMER = makeTimer();

  private final Duration limit;
  private volatile boolean isLate;

  DownloadStream(InputStream stream, Duration limit) {
    super(stream);
    this.limit = limit;
  }

  private static ScheduledThreadPoolExecutor makeTimer() {
    ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "crossdock-downloads");
              thread.setDaemon(true);
              return thread;
            });
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }

  @Override
  public int read() {
    byte[] one = new byte[1];
    return read(one, 0, 1) == -1 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] into, int offset, int length) {
    ScheduledFuture<?> timer = TIMER.schedule(this::giveUp, limit.toNanos(), TimeUnit.NANOSECONDS);
    try {
      int count = in.read(into, offset, length);
      if (count == -1 && isLate) throw ConnectionException.timeout(limit);
      return count;
    } catch (IOException failure) {
      throw isLate ? ConnectionException.timeout(limit) : new ConnectionException(failure, true);
    } finally {
      timer.cancel(false);
    }
  }

  /** Closing the stream ends a read that waits. */
  private void giveUp() {
    isLate = true;
    try {
      in.close();
    } catch (IOException failure) {
      // The read ends with the reason.
    }
  }
}
