package example.crossdock;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.ObjectMapper;
import example.crossdock.invoker.ApiClient;
import example.crossdock.records.ExistingPrealert;
import example.crossdock.records.FieldError;
import example.crossdock.records.PrealertWarning;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Submits many pre-alerts, one per line. A pre-alert is a {@code PrealertSubmission} of {@code example.crossdock.records} or of {@code
 * example.crossdock.model}.
 */
public final class PrealertBatches {
  /** The service accepts so many lines and bytes at once. */
  static final int MAX_LINES = 1000;

  private static final int MAX_BYTES = 4 * 1024 * 1024;

  private final ApiClient client;
  private final Sender sender;

  PrealertBatches(ApiClient client, Sender sender) {
    this.client = client;
    this.sender = sender;
  }

  /**
   * Submits any number of pre-alerts, 250 per request ({@link Crossdock.Builder#batchLines}). Check the status of each line of the
   * result. If a request fails, {@link CrossdockException#batch()} has the results before it.
   *
   * @throws IncompleteBatchException if the service received fewer, because something on the way has cut the request
   */
  public Result submit(List<?> prealerts) throws InterruptedException {
    Result all = new Result();
    List<byte[]> lines = linesOf(prealerts);
    int size = sender.batchLines();
    try {
      for (int begin = 0; begin < lines.size(); ) {
        List<byte[]> part = lines.subList(begin, begin + countOf(lines.subList(begin, lines.size()), size));
        boolean isDivisible = part.size() > 1 && sender.hasRetries();
        Result result;
        try {
          result = send(part, "", isDivisible);
        } catch (CrossdockException failure) {
          if (failure.status() != 408 || !isDivisible) throw failure;
          // Nothing of it is stored. Each part has a key of its own.
          size = (part.size() + 1) / 2;
          continue;
        }
        all.add(result);
        requireAll(result, part);
        begin += part.size();
      }
      return all;
    } catch (CrossdockException failure) {
      failure.setBatch(all);
      throw failure;
    }
  }

  /** The same for up to 1,000 in one request, but either all are stored or none: a line that fails makes the call fail. */
  public Result submitAtomically(List<?> prealerts) throws InterruptedException {
    List<byte[]> lines = linesOf(prealerts);
    Result result = send(lines, "?atomic=true", false);
    try {
      requireAll(result, lines);
      return result;
    } catch (IncompleteBatchException failure) {
      failure.setBatch(result);
      throw failure;
    }
  }

  private static void requireAll(Result result, List<byte[]> sent) {
    if (result.results.size() == sent.size()) return;
    throw new IncompleteBatchException(result.results.size(), sent.size());
  }

  /** Returns how many lines the next request has. */
  private static int countOf(List<byte[]> lines, int size) {
    int count = 0;
    long bytes = 0;
    for (byte[] line : lines) {
      bytes += line.length;
      if (count == size || (count > 0 && bytes > MAX_BYTES)) break;
      count++;
    }
    return count;
  }

  private Result send(List<byte[]> lines, String query, boolean isDivisible) throws InterruptedException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    lines.forEach(body::writeBytes);
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(client.getBaseUri() + "/api/Prealert.php" + query))
            .header("Content-Type", "application/x-ndjson")
            .POST(BodyPublishers.ofByteArray(body.toByteArray()))
            .build();
    return client.getObjectMapper().convertValue(sender.sendForData(request, isDivisible), Result.class);
  }

  private List<byte[]> linesOf(List<?> prealerts) {
    ObjectMapper json = client.getObjectMapper();
    List<byte[]> lines = new ArrayList<>();
    try {
      for (Object prealert : prealerts)
        lines.add((json.writeValueAsString(prealert) + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    return lines;
  }

  /** The response to a batch. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public static final class Result {
    public int total;
    public int created;
    public int duplicate;

    @JsonProperty("unknown_customer")
    public int unknownCustomer;

    public int invalid;
    public List<Line> results = new ArrayList<>();

    /** Appends the results of the next request. */
    private void add(Result next) {
      int before = results.size();
      total += next.total;
      created += next.created;
      duplicate += next.duplicate;
      unknownCustomer += next.unknownCustomer;
      invalid += next.invalid;
      for (Line line : next.results) {
        line.line += before;
        results.add(line);
      }
    }
  }

  /** The result of one pre-alert. Line 1 is the first one. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public static final class Line {
    public int line;

    /** created, duplicate, unknown_customer or invalid. */
    public String status;

    public String message;

    @JsonProperty("prealert_id")
    public String prealertId;

    /** The stored pre-alert of a duplicate. If its {@code differs} is true, it belongs to another customer. */
    public ExistingPrealert existing;

    /** What was stored although it may be wrong, as of a single call. Show the messages to a person. */
    public List<PrealertWarning> warnings = List.of();

    public String code;
    public List<FieldError> errors;
  }
}
