import json
import os
import sqlite3
import sys
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from verify import is_from_crossdock

with closing(sqlite3.connect("events.db")) as events:
    events.execute("create table if not exists events (id text primary key, received_at text, body text)")


class Receiver(BaseHTTPRequestHandler):
    timeout = 10  # seconds without a byte, so that a caller that stops does not keep a thread

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not is_from_crossdock(os.environ["WEBHOOK_SECRET"], self.headers, body):
            return self.respond(401)
        # Each request has a thread and a connection of its own. A slow caller does not delay the others.
        with closing(sqlite3.connect("events.db", timeout=5)) as events, events:
            # An event that is sent again has the same webhook-id.
            added = events.execute(
                "insert into events values (?, datetime('now'), ?) on conflict do nothing",
                (self.headers["webhook-id"], body.decode()),
            )
            events.execute("delete from events where received_at < datetime('now', '-90 days')")
        self.respond(204)
        if added.rowcount == 1:
            print("New:", json.loads(body)["type"], flush=True)

    def respond(self, status: int) -> None:
        self.send_response(status)
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
