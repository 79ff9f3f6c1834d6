import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

public class Scenario {
  private static final ObjectMapper JSON = ApiClient.createDefaultObjectMapper();
  private static final String RUN = env("RUN_ID");
  private static final UUID COURIER_ID = UUID.fromString(env("COURIER_ID"));
  private static final ApiClient COURIER_SYSTEM = connect("X-API-KEY", env("API_KEY"));
  private static final Map<String, ApiClient> USERS = new HashMap<>();

  private interface Step {
    Map<String, Object> run() throws Exception;
  }

  private static UUID packageId;

  public static void main(String[] args) throws IOException {
    List<Step> steps =
        List.of(
            Scenario::submit,
            Scenario::submitAgain,
            () -> Map.of("staff_role", logInAs("STAFF_USERNAME"), "courier_role", logInAs("COURIER_USERNAME")),
            Scenario::list,
            Scenario::receive,
            Scenario::ship,
            () -> Map.of("dry_run_created", upload(true), "created", upload(false)),
            Scenario::readPackages,
            Scenario::saveRates,
            Scenario::changeSettings,
            Scenario::readWebhook);
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

  private static ApiClient connect(String header, String value) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(env("URL"));
    client.setRequestInterceptor(request -> request.header(header, value));
    return client;
  }

  private static ApiClient staff() {
    return USERS.get("STAFF_USERNAME");
  }

  private static Map<String, Object> submit() throws ApiException {
    List<UUID> ids = new ArrayList<>();
    for (int number = 1; number <= 3; number++) ids.add(submitOne(RUN + "-" + number));
    return Map.of("prealert_ids", ids);
  }

  private static UUID submitOne(String trackingNumber) throws ApiException {
    PrealertSubmission prealert = new PrealertSubmission().userCode(env("USER_CODE")).trackingNumber(trackingNumber);
    return new PrealertsApi(COURIER_SYSTEM).submitPrealert(prealert, null).getData().getPrealertId();
  }

  private static Map<String, Object> submitAgain() throws IOException {
    try {
      submitOne(RUN + "-1");
      throw new IllegalStateException("The duplicate was accepted.");
    } catch (ApiException refused) {
      Failure failure = JSON.readValue(refused.getResponseBody(), Failure.class);
      return Map.of(
          "code", failure.getCode(), "status", refused.getCode(), "request_id", failure.getRequestId());
    }
  }

  private static Object logInAs(String name) throws ApiException {
    PasswordLoginAction action =
        new PasswordLoginAction()
            .action(PasswordLoginAction.ActionEnum.LOGIN)
            .username(env(name))
            .password(env("PASSWORD"));
    LoginResult result = new LoginApi(connect("X-Client", "scenario")).login(new LoginAction(action));
    LoginGrant grant = result.getLoginSuccess().getData();
    USERS.put(name, connect("Authorization", "Bearer " + grant.getAccessToken()));
    return grant.getUser().getRole();
  }

  private static Map<String, Object> list() throws ApiException {
    List<String> numbers = new ArrayList<>();
    for (int page = 1; ; page++) {
      ListPrealertsResult result =
          new PrealertsApi(staff()).listPrealerts(page, 1, null, null, null, RUN + "-", null);
      result.getData().forEach(prealert -> numbers.add(prealert.getTrackingNumber()));
      PrealertListMeta meta = result.getMeta();
      if (page >= meta.getTotalPages()) {
        int total = meta.getStats().getTotal();
        return Map.of("tracking_numbers", numbers, "total", total, "pages", meta.getTotalPages());
      }
    }
  }

  private static Map<String, Object> receive() throws ApiException {
    PackageIntake intake = new PackageIntake().trackingNumber(RUN + "-1").weight(3.25);
    packageId = new PackagesApi(staff()).receivePackage(intake, null).getData().getPackageId();
    return Map.of("package_id", packageId);
  }

  private static Map<String, Object> ship() throws ApiException {
    CreateManifestAction create =
        new CreateManifestAction().action(CreateManifestAction.ActionEnum.CREATE_MANIFEST);
    UUID id = manage(new ManifestAction(create)).getManifestId();
    AddManifestPackagesAction add =
        new AddManifestPackagesAction()
            .action(AddManifestPackagesAction.ActionEnum.ADD_PACKAGES)
            .manifestId(id)
            .addPackageIdsItem(packageId);
    manage(new ManifestAction(add));
    for (ManifestStatus status : List.of(ManifestStatus.READY, ManifestStatus.SHIPPED)) {
      UpdateManifestAction update =
          new UpdateManifestAction()
              .action(UpdateManifestAction.ActionEnum.UPDATE_META)
              .manifestId(id)
              .status(status);
      manage(new ManifestAction(update));
    }
    Object status = new ManifestsApi(staff()).getManifest(id, null).getData().getInfo().getStatus();
    return Map.of("manifest_id", id, "status", status);
  }

  private static ManifestOperationResult manage(ManifestAction action) throws ApiException {
    return new ManifestsApi(staff()).manageManifest(action, null).getData();
  }

  private static int upload(boolean isDryRun) throws ApiException {
    File file = new File(env("CUSTOMERS_CSV"));
    CustomersApi api = new CustomersApi(staff());
    return api.uploadCustomers(file, null, COURIER_ID.toString(), isDryRun).getData().getCreated();
  }

  private static Map<String, Object> readPackages() throws ApiException, IOException {
    PackagesApi api = new PackagesApi(staff());
    String number = RUN + "-";
    // The client has only this method, with a position for each filter.
    File file =
        api.exportPackagesXlsx(
            null, null, number, null, null, null, null, null, null, null, null, null, null, null, null,
            null, null, null, null, null, null, null, null, null);
    byte[] bytes = Files.readAllBytes(file.toPath());
    PackageListMeta meta = api.listPackages(null, new PackageSearch().trackingNumber(number)).getMeta();
    return Map.of(
        "file_start", new String(bytes, 0, 2, StandardCharsets.US_ASCII),
        "file_bytes", bytes.length,
        "total", meta.getTotalCount(),
        "total_weight", meta.getTotalWeight());
  }

  private static Map<String, Object> saveRates() throws ApiException {
    SaveRatesAction save =
        new SaveRatesAction()
            .action(SaveRatesAction.ActionEnum.SAVE_RATES)
            .courierId(COURIER_ID)
            .addRatesItem(new RateTierInput().startweight(0.0).endweight(5.0).fee(12.75))
            .addRatesItem(new RateTierInput().startweight(5.001).endweight(99999.999).fee(16777217.01));
    RatesApi api = new RatesApi(staff());
    api.manageCourierRates(new RateAction(save), null);
    CourierRates rates = api.getCourierRates(COURIER_ID).getData().getCourier();
    List<Double> fees = new ArrayList<>();
    rates.getSpecificRates().forEach(tier -> fees.add(tier.getFee()));
    return Map.of("fees", fees, "uses_global_rates", rates.getUsesGlobalRates());
  }

  private static Map<String, Object> changeSettings() throws ApiException {
    CouriersApi api = new CouriersApi(USERS.get("COURIER_USERNAME"));
    CourierSettingsUpdate update = new CourierSettingsUpdate().address2(RUN);
    String address = api.updateCourierSettings(update, null, null).getData().getAddress2();
    return Map.of("address2", address, "logo_path", api.uploadLogo(new File(env("LOGO_PNG")), null, null).getData().getPath());
  }

  private static Map<String, Object> readWebhook() throws IOException {
    String body = JSON.readTree(new File(env("WEBHOOKS_JSON"))).at("/valid/body").asText();
    PackageCreatedEvent event = JSON.readValue(body, PackageCreatedEvent.class);
    return Map.of(
        "type", event.getType(),
        "tracking_number", event.getData().getTrackingNumber(),
        "sequence", event.getSequence());
  }

  private static String env(String name) {
    return System.getenv("CROSSDOCK_" + name);
  }
}
