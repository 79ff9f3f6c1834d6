package example.crossdock;

import com.fasterxml.jackson.databind.ObjectMapper;
import example.crossdock.api.CouriersApi;
import example.crossdock.api.InvoicesApi;
import example.crossdock.api.ManifestsApi;
import example.crossdock.api.RatesApi;
import example.crossdock.invoker.ApiClient;
import example.crossdock.records.LoggedInUser;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Client of the API of one Crossdock instance. It is safe for use by several threads.
 *
 * <p>A call that the service refuses throws a {@link CrossdockException}. The client repeats a call after a temporary
 * failure, and sends each POST request with an {@code Idempotency-Key}.
 */
public final class Crossdock {
  private final Tokens tokens;
  private final ApiClient client;
  private final Lists lists;
  private final CrossdockFiles files;
  private final PrealertBatches batches;
  private final Calls calls;

  private Crossdock(Builder builder) {
    tokens = builder.username == null ? null : loginOf(builder);
    Sender sender = new Sender(builder, tokens);
    client = connect(builder, sender);
    lists = new Lists(this);
    files = new CrossdockFiles(client, sender);
    batches = new PrealertBatches(client, sender);
    calls = new Calls(client, sender, batches);
  }

  private static Tokens loginOf(Builder builder) {
    ApiClient passwords = connect(builder, Sender.forPasswords(builder));
    return new Tokens(passwords, connect(builder, new Sender(builder, null)), builder);
  }

  private static ApiClient connect(Builder builder, HttpClient sender) {
    ApiClient client =
        new ApiClient() {
          @Override
          public HttpClient getHttpClient() {
            return sender;
          }
        };
    client.updateBaseUri(builder.baseUrl);
    return client;
  }

  /** Starts a client of the instance at a base URL, for example {@code https://demo.crossdock.example}. */
  public static Builder at(String baseUrl) {
    return new Builder(baseUrl);
  }

  public PrealertsService prealerts() {
    return new PrealertsService(calls);
  }

  public CustomersService customers() {
    return new CustomersService(calls);
  }

  public PackagesService packages() {
    return new PackagesService(calls);
  }

  public ManifestsApi manifests() {
    return new ManifestsApi(client);
  }

  public RatesApi rates() {
    return new RatesApi(client);
  }

  public InvoicesApi invoices() {
    return new InvoicesApi(client);
  }

  public CouriersApi couriers() {
    return new CouriersApi(client);
  }

  public WebhooksService webhooks() {
    return new WebhooksService(calls);
  }

  /** The events of a courier, exactly as in its webhooks. */
  public EventsService events() {
    return new EventsService(calls);
  }

  /** Lists of records, which request a page when they need one. */
  public Lists lists() {
    return lists;
  }

  /** Uploads and downloads, which are sent as they are read. */
  public CrossdockFiles files() {
    return files;
  }

  /** Many pre-alerts, many in one request. */
  public PrealertBatches batches() {
    return batches;
  }

  /** The generated client, for the constructors of the other classes in {@code example.crossdock.api}. */
  public ApiClient apiClient() {
    return client;
  }

  /** Reads and writes the classes in {@code example.crossdock.model}. */
  public ObjectMapper json() {
    return client.getObjectMapper();
  }

  /** Logs in, unless the client has a token, and returns the user. */
  public LoggedInUser user() {
    if (tokens == null) throw new IllegalStateException("The client was made without a login.");
    return client.getObjectMapper().convertValue(tokens.get().getUser(), LoggedInUser.class);
  }

  /** Settings of a new client. Choose one credential: an API key, a login, or a token. */
  public static final class Builder {
    final String baseUrl;
    String apiKey;
    String token;
    String username;
    String password;
    Supplier<String> secondFactor =
        () -> {
          throw new IllegalStateException("The user has a second factor. Give the client a supplier of codes.");
        };
    int maxRetries = Defaults.MAX_RETRIES;
    Duration maxWait = Duration.ofSeconds(Defaults.LONGEST_RETRY_AFTER_SECONDS);
    Duration timeout = Duration.ofSeconds(Defaults.ATTEMPT_SECONDS);
    Duration lastAttempt = Duration.ofSeconds(Defaults.LAST_ATTEMPT_SECONDS);
    int batchLines = Defaults.BATCH_LINES;
    int pageSize = Defaults.PAGE_SIZE;
    Consumer<AttemptReport> onAttempt;
    HttpClient http;

    private Builder(String baseUrl) {
      this.baseUrl = required("base URL", baseUrl).replaceAll("/+$", "");
      // Without TLS, HTTP/2 would ask for an upgrade of the connection, which proxies may not understand.
      HttpClient.Version version =
          baseUrl.startsWith("http://") ? HttpClient.Version.HTTP_1_1 : HttpClient.Version.HTTP_2;
      Duration connectTimeout = Duration.ofSeconds(Defaults.CONNECT_SECONDS);
      this.http = HttpClient.newBuilder().version(version).connectTimeout(connectTimeout).build();
    }

    private static String required(String name, String value) {
      if (value != null && !value.isEmpty()) return value;
      throw new IllegalArgumentException(
          "The " + name + " is null or empty. Check the environment variable or setting that it comes from.");
    }

    /** The API key of a courier, which can only submit pre-alerts. A service token needs {@link #token}. */
    public Builder apiKey(String apiKey) {
      if (apiKey != null && apiKey.startsWith("cdk_"))
        throw new IllegalArgumentException("The API key is a service token. Use token(...): it submits pre-alerts too.");
      this.apiKey = required("API key", apiKey);
      return this;
    }

    /** A user. The client logs in at the first call, and again when the token has expired. */
    public Builder login(String username, String password) {
      this.username = required("user name", username);
      this.password = required("password", password);
      return this;
    }

    /** Called at each login of a user with two-factor authentication. Returns a six-digit code or a backup code. */
    public Builder secondFactor(Supplier<String> secondFactor) {
      this.secondFactor = secondFactor;
      return this;
    }

    /**
     * A service token, or an access token that you obtained yourself. The client cannot renew it. A service token with the scope {@code
     * prealerts:write} also submits pre-alerts.
     */
    public Builder token(String token) {
      this.token = required("token", token);
      return this;
    }

    /**
     * How often a call is repeated after a temporary failure (default 4), and the longest Retry-After that the client waits
     * for (default one minute). If it is longer, the call throws at once.
     */
    public Builder retries(int maxRetries, Duration maxWait) {
      this.maxRetries = maxRetries;
      this.maxWait = maxWait;
      return this;
    }

    /**
     * The time limit of one attempt (default 30 seconds; for a file: without any progress), and when the last attempt may
     * begin, counted from the first (default 150 seconds).
     */
    public Builder timeouts(Duration attempt, Duration lastAttempt) {
      this.timeout = attempt;
      this.lastAttempt = lastAttempt;
      return this;
    }

    /**
     * Pre-alerts per request of a batch, 1 to 1,000 (default 250). A request must arrive within 10 seconds, so a slow line needs
     * fewer. After 408 the batch is halved, and the following ones too.
     */
    public Builder batchLines(int batchLines) {
      if (batchLines < 1 || batchLines > PrealertBatches.MAX_LINES)
        throw new IllegalArgumentException("A request has 1 to 1,000 pre-alerts, not " + batchLines + ".");
      this.batchLines = batchLines;
      return this;
    }

    /** Records per page of a list, if the call sets no limit: 500 by default, at most what the operation allows. */
    public Builder pageSize(int pageSize) {
      if (pageSize < 1) throw new IllegalArgumentException("A page has 1 or more records, not " + pageSize + ".");
      this.pageSize = pageSize;
      return this;
    }

    /**
     * Called after each attempt of a call, for logs and metrics, by the thread that makes the call. What it throws is ignored.
     */
    public Builder onAttempt(Consumer<AttemptReport> onAttempt) {
      this.onAttempt = onAttempt;
      return this;
    }

    /** Another HTTP client, for example with a proxy. */
    public Builder httpClient(HttpClient http) {
      this.http = http;
      return this;
    }

    public Crossdock build() {
      return new Crossdock(this);
    }
  }
}
