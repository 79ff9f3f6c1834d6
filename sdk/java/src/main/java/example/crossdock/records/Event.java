package example.crossdock.records;

import com.fasterxml.jackson.databind.JsonNode;
import example.crossdock.Times;
import java.time.Instant;

/**
 * A change to a package, pre-alert, bill or flight of the courier, from a webhook or from the list of events. Each type of event has a
 * class of its own, for example {@link PackageCreatedEvent}. A type that this version does not know is an Event.
 */
public class Event {
  private final JsonNode json;

  Event(JsonNode json) {
    this.json = json;
  }

  /** Returns the event as the class of its type. */
  public static Event of(JsonNode json) {
    return EventTypes.read(json);
  }

  /** For example {@code package.created}. */
  public final String type() {
    return json.path("type").asText();
  }

  /** The same when the event is sent again. Ignore an id that you have already processed. */
  public final String eventId() {
    return json.path("event_id").asText();
  }

  /** Number of the event among all events of the courier. 0 for {@code webhook.test}. */
  public final int sequence() {
    return json.path("sequence").asInt();
  }

  /** When it happened. Null if the event does not say it. */
  public final Instant time() {
    String text = json.path("timestamp").asText("");
    return text.isEmpty() ? null : Times.parse(text);
  }

  /** The event as received. */
  public final JsonNode json() {
    return json;
  }
}
