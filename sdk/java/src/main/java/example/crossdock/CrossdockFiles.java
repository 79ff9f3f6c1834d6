package example.crossdock;

import com.fasterxml.jackson.databind.JsonNode;
import example.crossdock.invoker.ApiClient;
import example.crossdock.model.CustomerImport;
import example.crossdock.model.PackageSearch;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.UUID;

/** Uploads and downloads. Files are not kept in memory. */
public final class CrossdockFiles {
  private final ApiClient client;
  private final Sender sender;

  CrossdockFiles(ApiClient client, Sender sender) {
    this.client = client;
    this.sender = sender;
  }

  /** Returns the packages that match as CSV. Close the stream. */
  public InputStream packagesCsv(PackageSearch search) throws InterruptedException {
    return open(csvPath(search));
  }

  /** Writes the packages that match as CSV to a file. */
  public void packagesCsv(PackageSearch search, Path to) throws IOException, InterruptedException {
    save(csvPath(search), to);
  }

  private String csvPath(PackageSearch search) {
    return "/api/ExportPackagesCsv.php" + query(search);
  }

  /** Returns the packages that match as a workbook. Close the stream. */
  public InputStream packagesXlsx(PackageSearch search) throws InterruptedException {
    return open(xlsxPath(search));
  }

  /** Writes the packages that match as a workbook to a file. */
  public void packagesXlsx(PackageSearch search, Path to) throws IOException, InterruptedException {
    save(xlsxPath(search), to);
  }

  private String xlsxPath(PackageSearch search) {
    return "/api/ExportPackagesXlsx.php" + query(search);
  }

  /** The order of a list, which a file does not have. */
  private static final Set<String> ORDER = Set.of("sort_by", "sort_dir");

  /**
   * The filters of the list and of the exports have the same names.
   *
   * @throws IllegalArgumentException for several values of a filter: a file has one status
   */
  private String query(PackageSearch search) {
    StringJoiner query = new StringJoiner("&", "?", "");
    Iterator<Map.Entry<String, JsonNode>> fields = client.getObjectMapper().valueToTree(search).fields();
    fields.forEachRemaining(
        field -> {
          JsonNode value = field.getValue();
          if (value.isArray() && value.size() > 1)
            throw new IllegalArgumentException("A file has one " + field.getKey() + ", not several.");
          JsonNode only = value.isArray() ? value.path(0) : value;
          if (only.isValueNode() && !only.isNull() && !ORDER.contains(field.getKey()))
            query.add(field.getKey() + "=" + ApiClient.urlEncode(only.asText()));
        });
    return query.toString();
  }

  /** Returns the label of a package as PDF or ZPL. Close the stream. */
  public InputStream label(UUID packageId, String format) throws InterruptedException {
    return open(labelPath(packageId, format));
  }

  /** Writes the label of a package to a file. */
  public void label(UUID packageId, String format, Path to) throws IOException, InterruptedException {
    save(labelPath(packageId, format), to);
  }

  private static String labelPath(UUID packageId, String format) {
    return "/api/PackageLabel.php?package_id=" + packageId + "&format=" + format;
  }

  /** Returns a bill as PDF or CSV. Close the stream. */
  public InputStream bill(UUID billId, String format) throws InterruptedException {
    return open(billPath(billId, format));
  }

  /** Writes a bill to a file. */
  public void bill(UUID billId, String format, Path to) throws IOException, InterruptedException {
    save(billPath(billId, format), to);
  }

  private static String billPath(UUID billId, String format) {
    return "/api/DownloadCourierBill.php?bill_id=" + billId + "&format=" + format;
  }

  private InputStream open(String path) throws InterruptedException {
    return sender.send(to(path).GET().build(), BodyHandlers.ofInputStream()).body();
  }

  /** Writes a file, and again from its start if the connection breaks. The path gets the file only when it is complete. */
  private void save(String path, Path to) throws IOException, InterruptedException {
    Path part = to.resolveSibling(to.getFileName() + ".part");
    HttpRequest request = to(path).GET().build();
    try {
      sender.repeat(
          request,
          () -> {
            try (InputStream file = sender.send(request, BodyHandlers.ofInputStream()).body()) {
              Files.copy(file, part, StandardCopyOption.REPLACE_EXISTING);
            }
          });
      Files.move(part, to, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(part);
    }
  }

  /**
   * Uploads a CSV file of customers.
   *
   * @param courierId the courier, for staff; null for a courier
   * @param isDryRun whether to validate the file and store nothing
   */
  public CustomerImport uploadCustomers(Path file, UUID courierId, boolean isDryRun) throws InterruptedException {
    Map<String, String> fields = new LinkedHashMap<>();
    if (courierId != null) fields.put("target_courier_id", courierId.toString());
    fields.put("dry_run", String.valueOf(isDryRun));
    JsonNode data = upload("/api/UploadCustomers.php", new FileForm(fields, "file", file));
    return client.getObjectMapper().convertValue(data, CustomerImport.class);
  }

  /**
   * Uploads a PNG, JPEG or SVG as the logo of a courier.
   *
   * @param courierId the courier, for staff; null for a courier
   * @return the path of the logo, relative to the host
   */
  public String uploadLogo(Path file, UUID courierId) throws InterruptedException {
    Map<String, String> fields = courierId == null ? Map.of() : Map.of("courier_id", courierId.toString());
    return upload("/api/UploadLogo.php", new FileForm(fields, "logo", file)).get("path").asText();
  }

  private JsonNode upload(String path, FileForm form) throws InterruptedException {
    HttpRequest request = to(path).header("Content-Type", form.contentType()).POST(form).build();
    return sender.sendForData(request, false);
  }

  private HttpRequest.Builder to(String path) {
    return HttpRequest.newBuilder(URI.create(client.getBaseUri() + path));
  }
}
