"""Times of the API."""

from __future__ import annotations

from datetime import datetime, timezone


def parse_time(text: str | datetime) -> datetime:
    """Returns the time that a text of a webhook means. It is in UTC, also if it names no zone.

    The records of this library have datetimes, which it returns as they are.
    """
    if isinstance(text, datetime):
        return text
    return datetime.fromisoformat(text.rstrip("Z")).replace(tzinfo=timezone.utc)


def format_time(value: str | datetime) -> str:
    """Returns a time as the service reads it, in UTC. A datetime without a zone is one of this machine.

    Inputs of this library take a datetime too.
    """
    return value if isinstance(value, str) else value.astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
