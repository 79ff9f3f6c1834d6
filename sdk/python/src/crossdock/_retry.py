"""When a request is sent again. Both clients, sync and async, ask here."""

from __future__ import annotations

import random
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

import httpx

from .options import Options

_FIRST_WAIT_SECONDS = 0.5

_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


def is_repeatable(request: httpx.Request) -> bool:
    """Returns whether it does no harm if the service executes the request twice."""
    return request.method in ("GET", "PUT") or "idempotency-key" in request.headers


def wait_after_error(
    error: httpx.TransportError, request: httpx.Request, retries: int, options: Options
) -> float | None:
    """Returns how many seconds to wait before the next attempt, or None if there is none."""
    can_repeat = isinstance(error, _NOT_SENT) or is_repeatable(request)
    return _backoff(retries) if can_repeat and retries < options.max_retries else None


def wait_after_response(response: httpx.Response, retries: int, options: Options) -> float | None:
    """Returns how many seconds to wait before the next attempt, or None if there is none.

    408, 429 and 503 say that the service did not execute the request. After 502 and 504 nobody knows.
    """
    is_retryable = (
        response.status_code in (408, 429, 503)
        or (response.status_code in (502, 504) and is_repeatable(response.request))
        or (response.status_code == 409 and b'"idempotency_in_progress"' in response.content)
    )
    if not is_retryable or retries >= options.max_retries:
        return None
    wait = retry_after(response)
    if wait is None:
        return _backoff(retries)
    return wait if wait <= options.max_retry_wait else None


def retry_after(response: httpx.Response) -> float | None:
    """Returns the seconds to wait, from a number or a date in `Retry-After`."""
    value = response.headers.get("retry-after", "")
    if value.isdecimal():
        return float(value)
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (until - datetime.now(timezone.utc)).total_seconds())


def _backoff(retries: int) -> float:
    """Doubles with each retry, up to 16 seconds. Half of it is random, so that clients do not all return together."""
    return _FIRST_WAIT_SECONDS * float(2 ** min(retries, 5)) * random.uniform(0.5, 1)
