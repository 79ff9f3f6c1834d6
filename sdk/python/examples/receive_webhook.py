"""A web server that accepts webhooks: python receive_webhook.py 8080"""

import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from crossdock import WebhookError, verify_webhook


class Receiver(BaseHTTPRequestHandler):
    timeout = 10  # seconds without a byte, so that a caller that stops does not keep a thread

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = verify_webhook(body, dict(self.headers), os.environ["CROSSDOCK_WEBHOOK_SECRET"])
        except WebhookError as error:
            self.send_error(400, str(error))
            return
        # Store the event and respond at once. Process it later, and ignore an event_id that you have stored before.
        with open(os.environ["EVENT_FILE"], "a", encoding="utf-8") as file:
            file.write(f"{event.event_id} {event.type}\n")
        self.send_response(204)
        self.end_headers()


# One thread per request: a slow caller does not delay the others.
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
