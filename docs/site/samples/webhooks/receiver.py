import json
import os
import sqlite3
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from verify import is_from_crossdock

events = sqlite3.connect("events.db")
events.execute("create table if not exists events (id text primary key, received_at text, body text)")


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not is_from_crossdock(os.environ["WEBHOOK_SECRET"], self.headers, body):
            return self.respond(401)
        with events:
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


HTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
