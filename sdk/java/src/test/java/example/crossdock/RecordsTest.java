package example.crossdock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import example.crossdock.records.CustomersQuery;
import example.crossdock.records.Event;
import example.crossdock.records.PackageCreatedEvent;
import example.crossdock.records.PackageSearch;
import example.crossdock.records.PrealertSubmission;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class RecordsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void anEventOfAKnownTypeHasItsRecordAndTimes() throws IOException {
    String text =
        "{\"type\":\"package.created\",\"event_id\":\"e\",\"sequence\":7,\"timestamp\":\"2026-11-22 21:40:00\",\"data\":{"
            + "\"tracking_number\":\"1Z\",\"weight\":2.5,\"entry_date_time\":\"2026-11-21 15:04:09\",\"new_field\":1}}";
    PackageCreatedEvent event = (PackageCreatedEvent) Event.of(JSON.readTree(text));
    assertEquals("1Z", event.data().trackingNumber());
    assertEquals(2.5, event.data().weight());
    assertEquals(Instant.parse("2026-11-21T15:04:09Z"), event.data().entryDateTime());
    assertEquals(1_795_383_600, event.time().getEpochSecond());
    assertEquals(7, event.sequence());
  }

  @Test
  void anEventOfANewerTypeIsNoError() throws IOException {
    Event event = Event.of(JSON.readTree("{\"type\":\"package.invented\",\"sequence\":null,\"data\":{}}"));
    assertEquals(Event.class, event.getClass());
    assertEquals(0, event.sequence());
  }

  @Test
  void inputsSendWhatIsSetWithDatesAndTimesInUtc() throws IOException {
    PackageSearch search =
        new PackageSearch()
            .userCode("IEX-1001")
            .entryDateFloor(LocalDate.of(2026, 11, 1))
            .changedSince(Instant.parse("2026-11-02T04:00:00Z"))
            .onManifest(false);
    assertEquals(
        JSON.readTree(
            "{\"userCode\":\"IEX-1001\",\"entryDateFloor\":\"2026-11-01\",\"changed_since\":\"2026-11-02 04:00:00\",\"on_manifest\":false}"),
        JSON.valueToTree(search));
  }

  @Test
  void listsRequestPagesOfTheSizeUntilTheLast() throws IOException {
    List<String> queries = new ArrayList<>();
    HttpServer server =
        serve("{\"status\":\"success\",\"data\":[{\"user_code\":\"A\"}],\"total\":2}", queries);
    try {
      Crossdock client = Crossdock.at(urlOf(server)).token("token").pageSize(1).build();
      assertEquals(2, client.customers().list(new CustomersQuery()).count());
      assertEquals(List.of("page=1&limit=1", "page=2&limit=1"), queries);
    } finally {
      server.stop(0);
    }
  }

  @Test
  void theHookGetsTheOperationAndCannotBreakTheCall() throws IOException {
    HttpServer server =
        serve("{\"status\":\"success\",\"data\":{\"prealert_id\":\"p-1\"}}", new ArrayList<>());
    List<AttemptReport> seen = new ArrayList<>();
    try {
      Crossdock client =
          Crossdock.at(urlOf(server))
              .apiKey("secret")
              .onAttempt(
                  report -> {
                    seen.add(report);
                    throw new IllegalStateException("A log that fails.");
                  })
              .build();
      assertEquals("p-1", client.prealerts().submit(new PrealertSubmission().trackingNumber("1Z")).prealertId());
    } finally {
      server.stop(0);
    }
    assertEquals(1, seen.size());
    assertEquals("submitPrealert", seen.get(0).operation());
    assertEquals(200, seen.get(0).status());
    assertEquals("r-1", seen.get(0).requestId());
    assertTrue(seen.get(0).duration().compareTo(Duration.ZERO) > 0);
  }

  @Test
  void aServiceTokenSubmitsAndWarningsAreReturned() throws IOException {
    String warnings = "\"warnings\":[{\"code\":\"unlikely_number\",\"message\":\"No digit.\"}]";
    List<String> credentials = new ArrayList<>();
    // One answer is right for both calls.
    HttpServer server =
        serve(
            "{\"status\":\"success\",\"data\":{\"prealert_id\":\"p-1\","
                + warnings
                + ",\"results\":[{\"line\":1,\"status\":\"created\",\"message\":\"Created.\","
                + warnings
                + "}]}}",
            exchange ->
                credentials.add(
                    exchange.getRequestHeaders().getFirst("Authorization")
                        + exchange.getRequestHeaders().getFirst("X-API-KEY")));
    PrealertSubmission prealert = new PrealertSubmission().userCode("A").trackingNumber("N/A");
    try {
      Crossdock client = Crossdock.at(urlOf(server)).token("cdk_abc").build();
      assertEquals("unlikely_number", client.prealerts().submit(prealert).warnings().get(0).code());
      PrealertBatches.Line line = client.prealerts().submitMany(List.of(prealert)).results.get(0);
      assertEquals("unlikely_number", line.warnings.get(0).code());
    } finally {
      server.stop(0);
    }
    assertEquals(List.of("Bearer cdk_abcnull", "Bearer cdk_abcnull"), credentials);
  }

  @Test
  void withoutAWarningTheListIsEmpty() throws IOException {
    HttpServer server = serve("{\"status\":\"success\",\"data\":{\"prealert_id\":\"p-1\"}}", exchange -> {});
    try {
      Crossdock client = Crossdock.at(urlOf(server)).apiKey("key").build();
      assertEquals(List.of(), client.prealerts().submit(new PrealertSubmission().trackingNumber("1Z")).warnings());
    } finally {
      server.stop(0);
    }
  }

  @Test
  void aCursorAboveTheNewestEventIsAnException() throws IOException {
    String meta =
        "\"meta\":{\"limit\":9,\"next_after\":9999,\"has_more\":false,\"first_sequence\":1,\"last_sequence\":12,\"is_ahead\":true}";
    HttpServer server =
        serve(
            "{\"status\":\"success\",\"message\":\"m\",\"timestamp\":0,\"data\":[]," + meta + "}", exchange -> {});
    try {
      Crossdock client = Crossdock.at(urlOf(server)).token("token").build();
      CursorAheadException failure =
          assertThrows(CursorAheadException.class, () -> client.events().list(9999).count());
      assertEquals(9999, failure.after());
      assertEquals(12, failure.lastSequence());
      assertThrows(CursorAheadException.class, () -> client.lists().events(null, 9999, 9).count());
    } finally {
      server.stop(0);
    }
  }

  @Test
  void aForgedWebhookIsAnExceptionOfItsOwn() {
    byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
    assertThrows(
        WebhookException.class, () -> Webhooks.parse(body, name -> null, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
  }

  private static HttpServer serve(String text, List<String> queries) throws IOException {
    return serve(text, exchange -> queries.add(exchange.getRequestURI().getQuery()));
  }

  private static HttpServer serve(String text, Consumer<HttpExchange> see) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext(
        "/",
        exchange -> {
          see.accept(exchange);
          byte[] body = text.getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().set("Content-Type", "application/json");
          exchange.getResponseHeaders().set("X-Request-Id", "r-1");
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    return server;
  }

  private static String urlOf(HttpServer server) {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }
}
