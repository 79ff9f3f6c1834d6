package example.crossdock;

import example.crossdock.invoker.ApiException;
import example.crossdock.model.CourierEvent;
import example.crossdock.model.ListEventsResult;
import example.crossdock.model.ListPackagesResult;
import example.crossdock.model.ListPrealertsResult;
import example.crossdock.model.PackageRecord;
import example.crossdock.model.PackageSearch;
import example.crossdock.model.Prealert;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.UUID;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** Lists of records as streams, which request a page when they need one. */
public final class Lists {
  private final Crossdock crossdock;

  Lists(Crossdock crossdock) {
    this.crossdock = crossdock;
  }

  /** The pages of the pre-alerts that match a text. Each page has the stats of all of them. */
  public Stream<ListPrealertsResult> prealertPages(String search, int pageSize) {
    Page<ListPrealertsResult> page =
        number -> crossdock.prealerts().listPrealerts(number, pageSize, null, null, null, search, null);
    return pages(page, (result, number) -> number < result.getMeta().getTotalPages());
  }

  /** The pre-alerts that match a text; null for all. */
  public Stream<Prealert> prealerts(String search) {
    return prealertPages(search, 500).flatMap(page -> page.getData().stream());
  }

  /** The pages of a search for packages, from the first one. Each page has the totals of all of them. */
  public Stream<ListPackagesResult> packagePages(PackageSearch search) {
    Page<ListPackagesResult> page =
        number -> crossdock.packages().listPackages(null, search.page(number));
    return pages(page, (result, number) -> number < result.getMeta().getTotalPages());
  }

  public Stream<PackageRecord> packages(PackageSearch search) {
    return packagePages(search).flatMap(page -> page.getData().stream());
  }

  /**
   * The events of a courier after a sequence number, to the newest one. Store the sequence number ({@link #sequenceOf}) of the last
   * event that you processed, and continue there the next time.
   *
   * @param courierId the courier, for staff; null for a courier
   * @throws CursorAheadException while the stream is read, if the number is above the newest event
   */
  public Stream<CourierEvent> events(UUID courierId, int afterSequence, int pageSize) {
    int[] after = {afterSequence};
    Page<ListEventsResult> page =
        number -> {
          ListEventsResult result = crossdock.webhooks().listEvents(courierId, after[0], pageSize);
          if (result.getMeta().getIsAhead()) throw new CursorAheadException(after[0], result.getMeta().getLastSequence());
          after[0] = result.getMeta().getNextAfter();
          return result;
        };
    return pages(page, (result, number) -> result.getMeta().getHasMore()).flatMap(each -> each.getData().stream());
  }

  /** The sequence number of an event of any type. */
  public int sequenceOf(CourierEvent event) {
    return crossdock.json().valueToTree(event.getActualInstance()).get("sequence").asInt();
  }

  private interface Page<P> {
    P read(int number) throws ApiException;
  }

  private interface HasMore<P> {
    boolean test(P page, int number);
  }

  private static <P> Stream<P> pages(Page<P> page, HasMore<P> hasMore) {
    Iterator<P> iterator =
        new Iterator<>() {
          private int number = 1;
          private boolean isOver;

          @Override
          public boolean hasNext() {
            return !isOver;
          }

          @Override
          public P next() {
            if (isOver) throw new NoSuchElementException();
            try {
              P result = page.read(number);
              isOver = !hasMore.test(result, number);
              number++;
              return result;
            } catch (ApiException failure) {
              throw new ConnectionException(failure, true);
            }
          }
        };
    Iterable<P> iterable = () -> iterator;
    return StreamSupport.stream(iterable.spliterator(), false);
  }
}
