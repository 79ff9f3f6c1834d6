"""When a request is sent again. Both clients, sync and async, ask here."""

from __future__ import annotations

import random
import time
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

import httpx

from ._core import retries as table
from ._core.operations import REPEATABLE
from .options import Options

_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)

HARMLESS = "crossdock_harmless"
"""The extension of a request that the service may execute twice although its operation takes no Idempotency-Key."""

DIVISIBLE = "crossdock_divisible"
"""The extension of a request that the caller divides after 408, so that it is not sent again as a whole."""


class Attempts:
    """Counts the attempts of one call."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._retries = 0
        self._start = time.monotonic()

    def wait_after_error(self, error: httpx.TransportError, request: httpx.Request) -> float | None:
        """Returns how many seconds to wait before the next attempt, or None if there is none."""
        return self._wait() if isinstance(error, _NOT_SENT) or _is_repeatable(request) else None

    def wait_after_response(self, response: httpx.Response) -> float | None:
        """Returns how many seconds to wait before the next attempt, or None if there is none."""
        if response.status_code == 408 and DIVISIBLE in response.request.extensions:
            return None
        is_temporary = (
            response.status_code in table.ALWAYS
            or (response.status_code in table.REPEATABLE and _is_repeatable(response.request))
            or (not response.is_success and _code(response) in table.CODES)
        )
        return self._wait(retry_after(response) or 0) if is_temporary else None

    def _wait(self, asked: float = 0) -> float | None:
        if self._retries >= self._options.max_retries or asked > self._options.max_retry_wait:
            return None
        wait = max(asked, _pause(self._retries))
        if time.monotonic() - self._start + wait > self._options.last_attempt:
            return None
        self._retries += 1
        return wait


def _is_repeatable(request: httpx.Request) -> bool:
    """Returns whether it does no harm if the service executes the request twice."""
    # The base URL can have a path too.
    is_listed = any(request.method == method and request.url.path.endswith(path) for method, path in REPEATABLE)
    return is_listed or request.method == "GET" or HARMLESS in request.extensions


def _code(response: httpx.Response) -> str:
    try:
        body = response.json()
    except ValueError:  # for example the HTML page of a proxy
        return ""
    return str(body.get("code", "")) if isinstance(body, dict) else ""


def retry_after(response: httpx.Response) -> float | None:
    """Returns the seconds to wait, from a number or a date in `Retry-After`."""
    value = response.headers.get("retry-after", "")
    if value.isdecimal():
        return float(value)
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=timezone.utc)
    return max(0.0, (until - datetime.now(timezone.utc)).total_seconds())


def _pause(retries: int) -> float:
    """Doubles with each retry. A part of it is random, so that clients do not all return together."""
    longest = min(table.LONGEST_PAUSE_SECONDS, table.FIRST_PAUSE_SECONDS * table.PAUSE_FACTOR**retries)
    return float(longest * (1 - table.PAUSE_JITTER * random.random()))
