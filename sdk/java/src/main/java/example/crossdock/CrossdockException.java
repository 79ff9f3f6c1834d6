package example.crossdock;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import example.crossdock.model.Failure;
import example.crossdock.records.ExistingPrealert;
import example.crossdock.records.FieldError;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** A response that is no success, or {@link ConnectionException}. {@link FailureCode} lists the codes. */
public class CrossdockException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final String code;
  private final String requestId;
  private final transient List<FieldError> fields;
  private final transient ExistingPrealert existing;
  private final Duration retryAfter;
  private transient PrealertBatches.Result batch;

  /** There was no response. */
  CrossdockException(String message, Throwable cause) {
    super(message, cause);
    status = 0;
    code = "";
    requestId = null;
    fields = List.of();
    existing = null;
    retryAfter = Duration.ZERO;
  }

  private CrossdockException(
      int status, Failure failure, List<FieldError> fields, ExistingPrealert existing, Duration retryAfter) {
    super(failure.getMessage());
    this.status = status;
    this.code = failure.getCode();
    this.requestId = failure.getRequestId();
    this.fields = fields;
    this.existing = existing;
    this.retryAfter = retryAfter;
  }

  static CrossdockException read(int status, byte[] body, String requestId, Duration retryAfter, ObjectMapper json) {
    Failure failure = null;
    List<FieldError> fields = List.of();
    ExistingPrealert existing = null;
    try {
      failure = json.readValue(body, Failure.class);
      JsonNode tree = json.readTree(body);
      if (tree.path("errors").isArray()) fields = List.of(json.convertValue(tree.get("errors"), FieldError[].class));
      existing = json.convertValue(tree.get("existing"), ExistingPrealert.class);
    } catch (IOException notJson) {
      // A proxy in front of the service may send something else.
    }
    if (failure == null || failure.getCode() == null) {
      String message = "The response with status " + status + " is no failure of the API.";
      failure = new Failure().message(message).code("").requestId(requestId);
    }
    return new CrossdockException(status, failure, fields, existing, retryAfter);
  }

  /** The HTTP status, or 0 if there was no response. */
  public int status() {
    return status;
  }

  /** The stable reason. The service can get new codes: treat one that you do not know by its status. */
  public String code() {
    return code;
  }

  /** Whether this is the reason, for example {@code FailureCode.DUPLICATE_TRACKING_NUMBER}. */
  public boolean is(String expected) {
    return expected.equals(code);
  }

  /** Identifies the request in the service's log. */
  public String requestId() {
    return requestId;
  }

  /** The fields that are not acceptable, if the service names them. */
  public List<FieldError> fields() {
    return fields;
  }

  /**
   * The stored pre-alert, if the code is {@code DUPLICATE_TRACKING_NUMBER}, otherwise null. If its {@code differs} is true, it
   * belongs to another customer, and yours was not stored.
   */
  public ExistingPrealert existing() {
    return existing;
  }

  /** With {@link PrealertBatches#submit}: the results of the requests before the failure. Otherwise null. */
  public PrealertBatches.Result batch() {
    return batch;
  }

  void setBatch(PrealertBatches.Result batch) {
    this.batch = batch;
  }

  /** The wait that the service asks for, or zero. */
  public Duration retryAfter() {
    return retryAfter;
  }
}
