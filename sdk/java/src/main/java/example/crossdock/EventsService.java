package example.crossdock;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import example.crossdock.records.Event;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** The events of a courier, exactly as in its webhooks. */
public final class EventsService {
  private final Calls calls;

  EventsService(Calls calls) {
    this.calls = calls;
  }

  /**
   * The events after a sequence number, the oldest first, to the newest one. Store the sequence number of the last event that you
   * processed, and continue there the next time.
   *
   * @throws CursorAheadException while the stream is read, if the number is above the newest event
   */
  public Stream<Event> list(int afterSequence) {
    return list(null, afterSequence);
  }

  /**
   * The same for staff.
   *
   * @param courierId the courier; null for a courier itself
   */
  public Stream<Event> list(String courierId, int afterSequence) {
    ObjectNode query = calls.newInput("after", afterSequence, Defaults.LARGEST_EVENT_PAGE);
    if (courierId != null) query.put("courier_id", courierId);
    return calls
        .pages("GET", "/api/Events.php", query, page -> hasNext(query, page.path("meta")))
        .flatMap(page -> StreamSupport.stream(page.path("data").spliterator(), false))
        .map(Event::of);
  }

  private static boolean hasNext(ObjectNode query, JsonNode meta) {
    if (meta.path("is_ahead").asBoolean())
      throw new CursorAheadException(query.path("after").asInt(), meta.path("last_sequence").asInt());
    query.set("after", meta.path("next_after"));
    return meta.path("has_more").asBoolean();
  }
}
