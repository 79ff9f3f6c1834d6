import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import example.crossdock.WebhookException;
import example.crossdock.Webhooks;
import example.crossdock.records.Event;
import example.crossdock.records.PackageCreatedEvent;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * Receives webhooks on port 8099, or on the port in PORT. It answers 204 to a webhook from the service and 401 to
 * others.
 */
public class VerifyWebhook {
  public static void main(String[] args) throws IOException {
    int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "8099"));
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    server.createContext("/", VerifyWebhook::receive);
    server.start();
  }

  private static void receive(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readNBytes(1 << 20);
    String secret = System.getenv("CROSSDOCK_WEBHOOK_SECRET");
    int status = 204;
    try {
      Event event = Webhooks.parse(body, exchange.getRequestHeaders()::getFirst, secret);
      String about = event instanceof PackageCreatedEvent ? ((PackageCreatedEvent) event).data().trackingNumber() : "";
      System.out.println(event.type() + " " + event.eventId() + " " + about);
    } catch (WebhookException forged) {
      status = 401;
    }
    exchange.sendResponseHeaders(status, -1);
    exchange.close();
  }
}
