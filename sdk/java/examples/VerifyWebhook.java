import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import example.crossdock.Webhooks;
import example.crossdock.invoker.ApiClient;
import example.crossdock.model.PackageCreatedEvent;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * Receives webhooks on port 8099, or on the port in PORT. It answers 204 to a webhook from the service and 401 to
 * others.
 */
public class VerifyWebhook {
  private static final ObjectMapper JSON = ApiClient.createDefaultObjectMapper();

  public static void main(String[] args) throws IOException {
    int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "8099"));
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    server.createContext("/", VerifyWebhook::receive);
    server.start();
  }

  private static void receive(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readNBytes(1 << 20);
    String secret = System.getenv("CROSSDOCK_WEBHOOK_SECRET");
    boolean isValid = Webhooks.verify(body, exchange.getRequestHeaders()::getFirst, secret);
    if (isValid) {
      PackageCreatedEvent event = JSON.readValue(body, PackageCreatedEvent.class);
      System.out.println(event.getType() + " " + event.getEventId() + " " + event.getData().getTrackingNumber());
    }
    exchange.sendResponseHeaders(isValid ? 204 : 401, -1);
    exchange.close();
  }
}
