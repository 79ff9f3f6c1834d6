"""Prints the events since the last call, and keeps the cursor in a file."""

import os
import sys
from pathlib import Path

from crossdock import Client, CursorAheadError

cursor = Path(os.environ["CURSOR_FILE"])
after = int(cursor.read_text()) if cursor.exists() else 0

with Client(
    os.environ["CROSSDOCK_URL"],
    os.environ["CROSSDOCK_USERNAME"],
    os.environ["CROSSDOCK_PASSWORD"],
) as crossdock:
    try:
        for event in crossdock.events(after):
            print(event.sequence, event.type, event.data["tracking_number"])
            cursor.write_text(str(event.sequence))
    except CursorAheadError as error:
        # The service was restored from a backup. Read again from 0: your program ignores an event_id that it knows.
        cursor.write_text("0")
        sys.exit(str(error))
