"""Times of the API."""

from __future__ import annotations

from datetime import datetime, timezone


def parse_time(text: str) -> datetime:
    """Returns the time that a text of a response or a webhook means. It names no zone, and is in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)
