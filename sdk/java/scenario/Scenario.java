import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import example.crossdock.Crossdock;
import example.crossdock.CrossdockException;
import example.crossdock.Webhooks;
import example.crossdock.model.*;
import example.crossdock.records.PrealertSubmission;
import example.crossdock.records.PrealertsQuery;
import java.io.File;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** The twelve steps of npm run sdk:test. It prints one line of JSON per step. */
public class Scenario {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String RUN = env("RUN_ID");
  private static final UUID COURIER_ID = UUID.fromString(env("COURIER_ID"));
  private static final Crossdock COURIER_SYSTEM = Crossdock.at(env("URL")).apiKey(env("API_KEY")).build();
  private static final Crossdock STAFF = Crossdock.at(env("URL")).login(env("STAFF_USERNAME"), env("PASSWORD")).build();
  private static final Crossdock COURIER =
      Crossdock.at(env("URL")).login(env("COURIER_USERNAME"), env("PASSWORD")).build();

  private interface Step {
    Map<String, Object> run() throws Exception;
  }

  private static UUID packageId;

  public static void main(String[] args) throws Exception {
    List<Step> steps =
        List.of(
            Scenario::submit,
            Scenario::submitAgain,
            Scenario::logIn,
            Scenario::list,
            Scenario::receive,
            Scenario::ship,
            Scenario::uploadCustomers,
            Scenario::readPackages,
            Scenario::saveRates,
            Scenario::changeSettings,
            Scenario::readEvents,
            Scenario::submitWithFaults);
    for (int index = 0; index < steps.size(); index++) {
      Map<String, Object> report = new LinkedHashMap<>();
      report.put("step", index + 1);
      try {
        Map<String, Object> seen = steps.get(index).run();
        report.put("ok", true);
        report.putAll(seen);
      } catch (Exception failure) {
        report.put("ok", false);
        report.put("error", failure.toString());
      }
      System.out.println(JSON.writeValueAsString(report));
    }
  }

  private static Map<String, Object> submit() throws Exception {
    List<UUID> ids = new ArrayList<>();
    for (int number = 1; number <= 3; number++) ids.add(submitOne(COURIER_SYSTEM, RUN + "-" + number));
    return Map.of("prealert_ids", ids);
  }

  private static UUID submitOne(Crossdock client, String trackingNumber) throws Exception {
    PrealertSubmission prealert = new PrealertSubmission().userCode(env("USER_CODE")).trackingNumber(trackingNumber);
    return UUID.fromString(client.prealerts().submit(prealert).prealertId());
  }

  private static Map<String, Object> submitAgain() throws Exception {
    try {
      submitOne(COURIER_SYSTEM, RUN + "-1");
      throw new IllegalStateException("The duplicate was accepted.");
    } catch (CrossdockException failure) {
      return Map.of("code", failure.code(), "status", failure.status(), "request_id", failure.requestId());
    }
  }

  private static Map<String, Object> logIn() {
    return Map.of("staff_role", STAFF.user().role(), "courier_role", COURIER.user().role());
  }

  private static Map<String, Object> list() {
    List<String> numbers = new ArrayList<>();
    int[] seen = {0, 0};
    STAFF
        .prealerts()
        .pages(new PrealertsQuery().search(RUN + "-").limit(1))
        .forEach(
            page -> {
              page.data().forEach(prealert -> numbers.add(prealert.trackingNumber()));
              seen[0] = page.meta().stats().total();
              seen[1]++;
            });
    return Map.of("tracking_numbers", numbers, "total", seen[0], "pages", seen[1]);
  }

  private static Map<String, Object> receive() throws Exception {
    PackageIntake intake = new PackageIntake().trackingNumber(RUN + "-1").weight(3.25);
    packageId = STAFF.packages().receivePackage(intake, null).getData().getPackageId();
    return Map.of("package_id", packageId);
  }

  private static Map<String, Object> ship() throws Exception {
    CreateManifestAction create = new CreateManifestAction().action(CreateManifestAction.ActionEnum.CREATE_MANIFEST);
    UUID id = act(new ManifestAction(create)).getData().getManifestId();
    act(
        new ManifestAction(
            new AddManifestPackagesAction()
                .action(AddManifestPackagesAction.ActionEnum.ADD_PACKAGES)
                .manifestId(id)
                .addPackageIdsItem(packageId)));
    for (ManifestStatus status : List.of(ManifestStatus.READY, ManifestStatus.SHIPPED)) {
      act(
          new ManifestAction(
              new UpdateManifestAction()
                  .action(UpdateManifestAction.ActionEnum.UPDATE_META)
                  .manifestId(id)
                  .status(status)));
    }
    return Map.of("manifest_id", id, "status", STAFF.manifests().getManifest(id, null).getData().getInfo().getStatus());
  }

  private static ManageManifestResult act(ManifestAction action) throws Exception {
    return STAFF.manifests().manageManifest(action, null);
  }

  private static Map<String, Object> uploadCustomers() throws Exception {
    Path file = Path.of(env("CUSTOMERS_CSV"));
    int dryRun = STAFF.files().uploadCustomers(file, COURIER_ID, true).getCreated();
    return Map.of("dry_run_created", dryRun, "created", STAFF.files().uploadCustomers(file, COURIER_ID, false).getCreated());
  }

  private static Map<String, Object> readPackages() throws Exception {
    PackageSearch search = new PackageSearch().trackingNumber(RUN + "-");
    PackageListMeta meta = STAFF.lists().packagePages(search).findFirst().orElseThrow().getMeta();
    byte[] file;
    try (InputStream stream = STAFF.files().packagesXlsx(search)) {
      file = stream.readAllBytes();
    }
    return Map.of(
        "file_start", new String(file, 0, 2, StandardCharsets.US_ASCII),
        "file_bytes", file.length,
        "total", meta.getTotalCount(),
        "total_weight", meta.getTotalWeight());
  }

  private static Map<String, Object> saveRates() throws Exception {
    STAFF.rates().getCourierRates(COURIER_ID);
    SaveRatesAction save =
        new SaveRatesAction()
            .action(SaveRatesAction.ActionEnum.SAVE_RATES)
            .courierId(COURIER_ID)
            .addRatesItem(new RateTierInput().startweight(0.0).endweight(5.0).fee(12.75))
            .addRatesItem(new RateTierInput().startweight(5.001).endweight(99999.999).fee(16777217.01));
    STAFF.rates().manageCourierRates(new RateAction(save), null);
    CourierRates rates = STAFF.rates().getCourierRates(COURIER_ID).getData().getCourier();
    List<Double> fees = new ArrayList<>();
    rates.getSpecificRates().forEach(tier -> fees.add(tier.getFee()));
    return Map.of("fees", fees, "uses_global_rates", rates.getUsesGlobalRates());
  }

  private static Map<String, Object> changeSettings() throws Exception {
    CourierSettingsUpdate update = new CourierSettingsUpdate().address2(RUN);
    UpdateCourierSettingsResult result = COURIER.couriers().updateCourierSettings(update, null, null);
    String path = COURIER.files().uploadLogo(Path.of(env("LOGO_PNG")), null);
    return Map.of("address2", result.getData().getAddress2(), "logo_path", path);
  }

  private static Map<String, Object> readEvents() throws Exception {
    List<Integer> sequences = new ArrayList<>();
    COURIER.events().list(0).forEach(event -> sequences.add(event.sequence()));
    JsonNode samples = JSON.readTree(new File(env("WEBHOOKS_JSON")));
    String secret = samples.get("secret").asText();
    return Map.of(
        "events", sequences.size(),
        "last_sequence", sequences.get(sequences.size() - 1),
        "valid", isValid(samples.get("valid"), secret),
        "tampered", isValid(samples.get("tampered"), secret));
  }

  private static boolean isValid(JsonNode webhook, String secret) {
    byte[] body = webhook.get("body").asText().getBytes(StandardCharsets.UTF_8);
    return Webhooks.verify(body, name -> webhook.get("headers").path(name).asText(null), secret);
  }

  private static Map<String, Object> submitWithFaults() throws Exception {
    Crossdock client = Crossdock.at(env("FAULTY_URL")).apiKey(env("API_KEY")).build();
    return Map.of("prealert_id", submitOne(client, RUN + "-12"));
  }

  private static String env(String name) {
    return System.getenv("CROSSDOCK_" + name);
  }
}
