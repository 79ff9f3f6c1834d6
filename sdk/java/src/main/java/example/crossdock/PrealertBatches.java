package example.crossdock;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.ObjectMapper;
import example.crossdock.invoker.ApiClient;
import example.crossdock.model.ExistingPrealert;
import example.crossdock.model.FieldError;
import example.crossdock.model.PrealertSubmission;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;

/** Submits many pre-alerts in one request, one per line. */
public final class PrealertBatches {
  private final ApiClient client;
  private final Sender sender;

  PrealertBatches(ApiClient client, Sender sender) {
    this.client = client;
    this.sender = sender;
  }

  /**
   * Submits up to 1,000 pre-alerts. Check the status of each line of the result.
   *
   * @throws IncompleteBatchException if the service received fewer, because something on the way has cut the request
   */
  public Result submit(List<PrealertSubmission> prealerts) throws InterruptedException {
    return send(prealerts, "");
  }

  /** The same, but either all are stored or none: a line that fails makes the call fail. */
  public Result submitAtomically(List<PrealertSubmission> prealerts) throws InterruptedException {
    return send(prealerts, "?atomic=true");
  }

  private Result send(List<PrealertSubmission> prealerts, String query) throws InterruptedException {
    ObjectMapper json = client.getObjectMapper();
    byte[] lines = linesOf(prealerts, json);
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(client.getBaseUri() + "/api/Prealert.php" + query))
            .header("Content-Type", "application/x-ndjson")
            .POST(BodyPublishers.ofByteArray(lines))
            .build();
    Result result = json.convertValue(sender.sendForData(request), Result.class);
    if (result.results.size() != prealerts.size()) {
      throw new IncompleteBatchException(result, prealerts.size());
    }
    return result;
  }

  private static byte[] linesOf(List<PrealertSubmission> prealerts, ObjectMapper json) {
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    try {
      for (PrealertSubmission prealert : prealerts) {
        lines.write(json.writeValueAsBytes(prealert));
        lines.write('\n');
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    return lines.toByteArray();
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
    public List<Line> results;
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

    public String code;
    public List<FieldError> errors;
  }
}
