import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import example.crossdock.AttemptReport;
import example.crossdock.Crossdock;
import example.crossdock.WebhookException;
import example.crossdock.Webhooks;
import example.crossdock.records.Event;
import example.crossdock.records.PackageCreatedEvent;
import example.crossdock.records.Prealert;
import example.crossdock.records.PrealertSubmission;
import example.crossdock.records.PrealertsQuery;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/** The steps of sdk-tools/packed/steps.ts, in a project that has the SDK from a Maven repository. */
public class Program {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String RUN = env("RUN_ID");
  private static final List<Map<String, Object>> ATTEMPTS = new ArrayList<>();

  public static void main(String[] args) throws Exception {
    List<Callable<Map<String, Object>>> steps =
        List.of(
            () -> submit(live("URL"), env("USER_CODE"), 1),
            () -> submit(live("FAULTY_URL").onAttempt(Program::remember), env("USER_CODE"), 2),
            Program::list,
            Program::verify,
            () -> submit(inSandbox(), env("SANDBOX_USER_CODE"), 3));
    for (int index = 0; index < steps.size(); index++) {
      Map<String, Object> report = new LinkedHashMap<>();
      report.put("step", index + 1);
      try {
        Map<String, Object> seen = steps.get(index).call();
        report.put("ok", true);
        report.putAll(seen);
      } catch (Exception failure) {
        report.put("ok", false);
        report.put("error", failure.toString());
      }
      System.out.println(JSON.writeValueAsString(report));
    }
  }

  private static void remember(AttemptReport report) {
    Map<String, Object> attempt = new LinkedHashMap<>();
    attempt.put("operation", report.operation());
    attempt.put("attempt", report.attempt());
    attempt.put("status", report.status() == 0 ? null : report.status());
    attempt.put("request_id", report.requestId() == null ? "" : report.requestId());
    ATTEMPTS.add(attempt);
  }

  private static Crossdock.Builder live(String url) {
    return Crossdock.at(env(url)).apiKey(env("API_KEY"));
  }

  private static Crossdock.Builder inSandbox() {
    return Crossdock.at(env("SANDBOX_URL")).apiKey(env("SANDBOX_KEY"));
  }

  private static Map<String, Object> submit(Crossdock.Builder builder, String userCode, int number) {
    PrealertSubmission prealert =
        new PrealertSubmission().userCode(userCode).trackingNumber(RUN + "-" + number);
    return Map.of("prealert_id", builder.build().prealerts().submit(prealert).prealertId());
  }

  private static Map<String, Object> list() {
    Crossdock staff =
        Crossdock.at(env("URL")).login(env("STAFF_USERNAME"), env("PASSWORD")).pageSize(1).build();
    List<Prealert> found =
        staff.prealerts().list(new PrealertsQuery().search(RUN + "-")).collect(Collectors.toList());
    return Map.of(
        "tracking_numbers", found.stream().map(Prealert::trackingNumber).collect(Collectors.toList()),
        "newest", found.get(0).createdAt().getEpochSecond());
  }

  private static Map<String, Object> verify() throws Exception {
    JsonNode samples = JSON.readTree(new File(env("WEBHOOKS_JSON")));
    Event event = parse(samples.get("valid"), samples.get("secret").asText());
    boolean tampered = true;
    try {
      parse(samples.get("tampered"), samples.get("secret").asText());
    } catch (WebhookException forged) {
      tampered = false;
    }
    String number =
        event instanceof PackageCreatedEvent ? ((PackageCreatedEvent) event).data().trackingNumber() : event.type();
    return Map.of("tracking_number", number, "tampered", tampered, "attempts", ATTEMPTS);
  }

  private static Event parse(JsonNode webhook, String secret) {
    byte[] body = webhook.get("body").asText().getBytes(StandardCharsets.UTF_8);
    return Webhooks.parse(body, name -> webhook.get("headers").path(name).asText(null), secret);
  }

  private static String env(String name) {
    return System.getenv("CROSSDOCK_" + name);
  }
}
