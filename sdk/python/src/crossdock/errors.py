"""Everything that the clients raise, except for httpx.InvalidURL and wrong arguments (TypeError, ValueError)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import httpx

from ._core.models import ExistingPrealert
from ._retry import retry_after

if TYPE_CHECKING:
    from .batch import BatchResult


class CrossdockError(Exception):
    """The base class of all errors of this library."""

    results: Sequence[BatchResult] = ()
    """With submit_many(): the results that arrived before the failure."""


class NoResponseError(CrossdockError):
    """There was no response after all retries: no connection, a timeout, or a response that was lost or cut."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(f"No response from the service: {str(reason) or type(reason).__name__}")
        self.is_timeout = isinstance(reason, httpx.TimeoutException)
        """Whether the time limit of the last attempt passed."""


class IncompleteBatchError(CrossdockError):
    """The service received fewer pre-alerts than were sent: something on the way has cut the request."""

    def __init__(self, sent: int, received: Sequence[BatchResult]) -> None:
        super().__init__(
            f"The service received {len(received)} of {sent} pre-alerts of a request. "
            "Submit them again: those that are stored are then duplicates."
        )
        self.results = received


class CursorAheadError(CrossdockError):
    """`after` is above the newest event: it is not a number of this feed, for example after a restored backup.

    No event would ever arrive. Read again from 0, and ignore the events whose `event_id` you know.
    """

    def __init__(self, after: int, last_sequence: int) -> None:
        super().__init__(
            f"The events end with {last_sequence}, before {after}, for example because the service was restored from "
            "a backup. Read again from 0, and ignore the events whose event_id you know."
        )
        self.after = after
        """The number that was given."""
        self.last_sequence = last_sequence
        """The newest event of the feed. 0 if it has none."""


class SecondFactorRequiredError(CrossdockError):
    """The user has two-factor authentication, and the client was created without `second_factor`."""


class WebhookError(CrossdockError):
    """The request is not a webhook of Crossdock, or is too old. Respond with status 400 and ignore it."""


class ApiError(CrossdockError):
    """The service refused the request. The subclass follows from the HTTP status, the exact reason is `code`."""

    def __init__(self, response: httpx.Response) -> None:
        body = _json(response)
        self.status = response.status_code
        """The HTTP status."""
        self.code = str(body.get("code", ""))
        """The stable code, such as `duplicate_tracking_number`. Empty if the response is not from Crossdock."""
        self.message = str(body.get("message", f"The response has the status {self.status}."))
        """Text for people. The wording may change."""
        errors = body.get("errors")
        self.errors: list[dict[str, Any]] = errors if isinstance(errors, list) else []
        """The wrong fields: `field`, `code`, `message`, and `row` for files and batches."""
        self.request_id = response.headers.get("x-request-id")
        """Quote it when you contact us."""
        self.retry_after = retry_after(response)
        """Seconds to wait before you send the request again, or None."""
        self.doc_url: str | None = body.get("doc_url")
        """The page with the cause and the cure."""
        super().__init__(f"{self.status} {self.code}: {self.message} (request {self.request_id})")


class InvalidRequestError(ApiError):
    """400, 413, 415, 422 and others: correct the request. `errors` names the wrong fields."""


class AuthenticationError(ApiError):
    """401: the key is missing, or the user name, the password or the second factor is wrong."""


class ForbiddenError(ApiError):
    """403: the key is not valid, the account is disabled, or the permission is missing."""


class NotFoundError(ApiError):
    """404: the record does not exist."""


class ConflictError(ApiError):
    """409: the request conflicts with another one, or with a record."""


class DuplicateError(ConflictError):
    """409 `duplicate_...`: the record already exists. Do not send it again."""

    def __init__(self, response: httpx.Response) -> None:
        super().__init__(response)
        existing = _json(response).get("existing")
        self.existing = ExistingPrealert.from_dict(existing) if isinstance(existing, dict) else None
        """The stored pre-alert, if the code is `duplicate_tracking_number`, otherwise None.

        If its `differs` is true, it belongs to another customer, and yours was not stored.
        """


class RateLimitError(ApiError):
    """429: too many requests or failures. `retry_after` says how many seconds to wait."""


class ServerError(ApiError):
    """5xx: the fault is on the side of the service."""


_CLASSES: dict[int, type[ApiError]] = {
    401: AuthenticationError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
}


def error_of(response: httpx.Response) -> ApiError:
    """Returns the error for a response that was read and is not a success."""
    if str(_json(response).get("code", "")).startswith("duplicate_"):
        return DuplicateError(response)
    default = ServerError if response.status_code >= 500 else InvalidRequestError
    return _CLASSES.get(response.status_code, default)(response)


def _json(response: httpx.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:  # for example the HTML page of a proxy
        return {}
    return body if isinstance(body, dict) else {}
