import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import example.crossdock.ConnectionException;
import example.crossdock.Crossdock;
import example.crossdock.CrossdockException;
import example.crossdock.PrealertBatches;
import example.crossdock.model.PackageSearch;
import example.crossdock.model.PrealertDeletion;
import example.crossdock.records.PrealertSubmission;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The calls of test/sdk/faults.test.ts, all at the same time. It prints one line of JSON for each. */
public class Faults {
  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] args) throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    List<Future<Map<String, Object>>> results = new ArrayList<>();
    for (JsonNode call : JSON.readTree(env("CALLS"))) results.add(threads.submit(() -> run(call)));
    for (Future<Map<String, Object>> result : results) System.out.println(JSON.writeValueAsString(result.get()));
    threads.shutdown();
  }

  private static Map<String, Object> run(JsonNode call) {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("name", call.get("name").asText());
    try {
      report.put("value", act(call));
    } catch (ConnectionException failure) {
      report.put("error", failure.isTimeout() ? "timeout" : "no response");
    } catch (CrossdockException failure) {
      report.put("error", "refusal");
      report.put("status", failure.status());
    } catch (Exception failure) {
      report.put("error", "foreign: " + failure);
    }
    return report;
  }

  private static Object act(JsonNode call) throws Exception {
    Crossdock.Builder builder = Crossdock.at(call.get("url").asText());
    if (call.has("max_retries")) builder.retries(call.get("max_retries").asInt(), Duration.ofMinutes(1));
    if (call.has("timeout_seconds"))
      builder.timeouts(seconds(call.get("timeout_seconds")), seconds(call.get("last_attempt_seconds")));
    String action = call.get("action").asText();
    if (action.equals("submit")) {
      PrealertSubmission prealert =
          new PrealertSubmission().userCode("IEX-1001").trackingNumber(call.get("tracking_number").asText());
      return builder.apiKey(env("API_KEY")).build().prealerts().submit(prealert).prealertId();
    }
    if (action.equals("batch")) {
      List<PrealertSubmission> prealerts = new ArrayList<>();
      for (int n = 0; n < 300; n++)
        prealerts.add(
            new PrealertSubmission()
                .userCode("IEX-1001")
                .trackingNumber(call.get("tracking_number").asText() + "-" + n));
      PrealertBatches.Result batch = builder.apiKey(env("API_KEY")).build().batches().submit(prealerts);
      for (int n = 0; n < batch.results.size(); n++) if (batch.results.get(n).line != n + 1) return "wrong lines";
      return batch.created;
    }
    Crossdock crossdock = builder.login(env("USERNAME"), env("PASSWORD")).build();
    switch (action) {
      case "login":
        return crossdock.user().role();
      case "read":
        return crossdock.lists().prealertPages(null, 1).findFirst().orElseThrow().getData().size() == 1;
      case "delete":
        return crossdock.prealerts().deletePrealert(new PrealertDeletion().prealertId(new UUID(0, 0))).getMessage();
      default:
        Path file = Files.createTempFile("crossdock-", ".csv");
        try {
          crossdock.files().packagesCsv(new PackageSearch(), file);
          return Files.size(file) > 0;
        } finally {
          Files.delete(file);
        }
    }
  }

  private static Duration seconds(JsonNode value) {
    return Duration.ofMillis((long) (value.asDouble() * 1000));
  }

  private static String env(String name) {
    return System.getenv("CROSSDOCK_" + name);
  }
}
