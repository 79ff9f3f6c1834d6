"""What a hook gets about an attempt of a call."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Attempt:
    """One attempt of a call. It has no credential, no body, no query and no record, so that it can be logged."""

    operation: str
    """The operation, as the API reference names it."""

    number: int
    """Counts from 1. A later one is a repetition. A new login, and the call after it, count from 1 again."""

    duration: float
    """Seconds until the whole response was read. For a file: until it begins."""

    status: int | None
    """The HTTP status. None if there was no response."""

    request_id: str | None
    """Quote it when you contact us."""

    error: Exception | None
    """Why there was no response."""
