package example.crossdock;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import example.crossdock.invoker.ApiClient;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.StringJoiner;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** Sends the calls of the services. Nothing that it throws is a checked exception. */
final class Calls {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final ApiClient client;
  private final Sender sender;
  private final PrealertBatches batches;

  Calls(ApiClient client, Sender sender, PrealertBatches batches) {
    this.client = client;
    this.sender = sender;
    this.batches = batches;
  }

  ApiClient client() {
    return client;
  }

  PrealertBatches batches() {
    return batches;
  }

  /** Returns the data of a response. */
  <T> T data(String method, String path, Object input, String idempotencyKey, Class<T> kind) {
    return JSON.convertValue(send(method, path, input, idempotencyKey).path("data"), kind);
  }

  /** Returns the data of a response that is an array. */
  <T> List<T> list(String method, String path, Object input, String idempotencyKey, Class<T> kind) {
    return listOf(send(method, path, input, idempotencyKey).path("data"), kind);
  }

  private static <T> List<T> listOf(JsonNode data, Class<T> kind) {
    List<T> records = new ArrayList<>();
    data.forEach(record -> records.add(JSON.convertValue(record, kind)));
    return List.copyOf(records);
  }

  /** Sends a request and returns the whole response. */
  JsonNode send(String method, String path, Object input, String idempotencyKey) {
    JsonNode fields = JSON.valueToTree(input);
    boolean isQuery = method.equals("GET");
    BodyPublisher body =
        isQuery || fields.isNull() ? BodyPublishers.noBody() : BodyPublishers.ofString(fields.toString());
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(client.getBaseUri() + path + (isQuery ? queryOf(fields) : "")))
            .header("Accept", "application/json")
            .method(method, body);
    if (!isQuery) request.header("Content-Type", "application/json");
    if (idempotencyKey != null) request.header("Idempotency-Key", idempotencyKey);
    return uninterrupted(() -> sender.sendForJson(request.build(), false));
  }

  private static String queryOf(JsonNode fields) {
    StringJoiner query = new StringJoiner("&", "?", "").setEmptyValue("");
    fields
        .fields()
        .forEachRemaining(
            field -> {
              Iterable<JsonNode> values = field.getValue().isArray() ? field.getValue() : List.of(field.getValue());
              for (JsonNode value : values) query.add(field.getKey() + "=" + ApiClient.urlEncode(value.asText()));
            });
    return query.toString();
  }

  interface Work<T> {
    T run() throws InterruptedException;
  }

  /** Does work that can be interrupted. */
  <T> T uninterrupted(Work<T> work) {
    try {
      return work.run();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new ConnectionException(interrupted, true);
    }
  }

  /** The fields of the first page of a list. */
  ObjectNode newInput(String name, int value, int largestPage) {
    return JSON.createObjectNode().put(name, value).put("limit", Math.min(sender.pageSize(), largestPage));
  }

  /** The pages of a list. Without a limit of the caller they have the size of {@link Crossdock.Builder#pageSize}. */
  <R, M> Stream<Page<R, M>> pages(
      String method, String path, String paging, int largestPage, Object input, Class<R> record, Class<M> meta) {
    ObjectNode fields = newInput("page", 1, largestPage);
    if (paging.equals("before")) fields.remove("page");
    if (input != null) fields.setAll((ObjectNode) JSON.valueToTree(input));
    return pages(method, path, fields, page -> hasNext(paging, fields, page))
        .map(
            page ->
                new Page<>(
                    listOf(page.path("data"), record),
                    meta == Void.class ? null : JSON.convertValue(page.path("meta"), meta),
                    page.path("total").asInt()));
  }

  /** Changes the fields to those of the next page. Returns false after the last one. */
  private static boolean hasNext(String paging, ObjectNode fields, JsonNode page) {
    if (page.path("data").isEmpty()) return false;
    JsonNode meta = page.path("meta");
    if (paging.equals("before")) {
      JsonNode before = meta.path("next_before");
      fields.set("before", before);
      return !before.isNull() && !before.isMissingNode();
    }
    int number = fields.path("page").asInt();
    fields.put("page", number + 1);
    if (meta.has("total_pages")) return number < meta.path("total_pages").asInt();
    return number * fields.path("limit").asInt() < page.path("total").asInt();
  }

  /**
   * Pages that are requested when the stream needs them.
   *
   * @param next changes the fields to those of the next page, and returns whether there is one
   */
  Stream<JsonNode> pages(String method, String path, ObjectNode fields, Predicate<JsonNode> next) {
    Iterator<JsonNode> iterator =
        new Iterator<>() {
          private boolean isOver;

          @Override
          public boolean hasNext() {
            return !isOver;
          }

          @Override
          public JsonNode next() {
            if (isOver) throw new NoSuchElementException();
            JsonNode page = send(method, path, fields, null);
            isOver = !next.test(page);
            return page;
          }
        };
    Iterable<JsonNode> iterable = () -> iterator;
    return StreamSupport.stream(iterable.spliterator(), false);
  }
}
