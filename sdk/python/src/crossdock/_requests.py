"""Requests and pages. Both clients, sync and async, use these functions."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import PurePath
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

import httpx

from ._core.models import PrealertSubmission
from ._core.operations import FILE_PATHS, LARGEST_PAGES, TAKES_IDEMPOTENCY_KEY
from ._fields import fields_of
from ._retry import DIVISIBLE
from .attempt import Attempt
from .batch import BatchResult
from .call import Call
from .errors import ApiError, CursorAheadError, IncompleteBatchError
from .options import MAX_BATCH_LINES, Options

T = TypeVar("T")

Prealert = PrealertSubmission | Mapping[str, Any]
"""A pre-alert, or a dict of its fields."""

NOT_OURS = "The response is not one of the service, or is not complete."

BATCH_BYTES = 4 * 1024 * 1024


OPERATION = "crossdock_operation"
"""The extension of a request that names its operation."""


def report(
    options: Options, request: httpx.Request, number: int, begin: float, result: httpx.Response | Exception
) -> None:
    """Calls the hook with the result of an attempt. A log that fails does not fail the call."""
    if options.on_attempt is None:
        return
    response = result if isinstance(result, httpx.Response) else None
    attempt = Attempt(
        operation=request.extensions.get(OPERATION, f"{request.method} {request.url.path}"),
        number=number,
        duration=time.monotonic() - begin,
        status=None if response is None else response.status_code,
        request_id=None if response is None else response.headers.get("x-request-id"),
        error=result if isinstance(result, Exception) else None,
    )
    with suppress(Exception):
        options.on_attempt(attempt)


class ListResult(Protocol[T]):
    """The response to a list operation."""

    data: list[T]


def settings(base_url: str, options: Options) -> dict[str, Any]:
    """Returns the arguments of httpx.Client."""
    url = urlsplit(base_url)
    host = url.hostname or ""
    is_local = host in ("127.0.0.1", "::1", "localhost") or host.endswith(".localhost")
    if not host or not (url.scheme == "https" or (url.scheme == "http" and is_local)):
        raise ValueError(f"The base URL {base_url!r} must begin with https://. Only this machine may use http://.")
    return {
        "base_url": base_url,
        "timeout": httpx.Timeout(options.timeout, connect=options.connect_timeout),
        "verify": options.verify,
        "proxy": options.proxy,
        "headers": {"user-agent": f"crossdock-python/{version('crossdock')}"},
    }


def start_limit(request: httpx.Request, options: Options) -> float:
    """Gives each part of an attempt the whole time limit, and returns when the attempt must be over."""
    request.extensions["timeout"] = httpx.Timeout(options.timeout, connect=options.connect_timeout).as_dict()
    return time.monotonic() + options.timeout


def limit_body(request: httpx.Request, until: float) -> None:
    """Gives the body of the response what is left of the time limit."""
    request.extensions["timeout"]["read"] = max(0.001, until - time.monotonic())


def check_limit(request: httpx.Request, until: float) -> None:
    """Ends an attempt whose response arrives too slowly."""
    if time.monotonic() > until:
        raise httpx.ReadTimeout("The time limit passed before the whole response arrived.", request=request)


def read_response(response: httpx.Response, content: bytes) -> httpx.Response:
    """Returns a response with its body as received. Raises httpx.RemoteProtocolError if it is cut."""
    whole = httpx.Response(
        response.status_code,
        headers=response.headers,
        content=content,
        request=response.request,
        extensions=response.extensions,
    )
    if not whole.is_success:
        return whole
    # The base URL can have a path too.
    if any(path in response.request.url.path for path in FILE_PATHS):
        if not is_file(whole):
            raise httpx.RemoteProtocolError(NOT_OURS, request=response.request)
        return whole
    try:
        body = whole.json()
    except ValueError:
        body = None
    # Every success of the service has a status. A proxy may answer with JSON of its own.
    if not isinstance(body, dict) or body.get("status") not in ("success", "2fa_required"):
        raise httpx.RemoteProtocolError(NOT_OURS, request=response.request)
    return whole


def is_file(response: httpx.Response) -> bool:
    """Returns whether a success may be a file. It is never JSON or a page, which a proxy may send."""
    return not re.search("json|html", response.headers.get("content-type", ""))


def with_page_size(call: Call[T], page_size: int) -> Call[T]:
    """Asks for pages of a size, or the largest that the operation allows, unless the caller has chosen one."""
    largest = LARGEST_PAGES.get((call.request["method"], call.request["url"]))
    place = _place(call)
    fields = call.request.get(place, {})
    if largest is None or "limit" in fields:
        return call
    return Call({**call.request, place: {**fields, "limit": min(page_size, largest)}}, call.parse)


def _place(call: Call[T]) -> str:
    return "json" if call.request["method"] == "POST" else "params"


def prepare(request: Mapping[str, Any], idempotency_key: str | None = None) -> dict[str, Any]:
    """Adds an Idempotency-Key where the operation takes one."""
    headers = dict(request.get("headers", {}))
    if idempotency_key is not None:
        headers["Idempotency-Key"] = idempotency_key
    elif (request["method"], request["url"]) in TAKES_IDEMPOTENCY_KEY:
        headers.setdefault("Idempotency-Key", str(uuid.uuid4()))
    # The generated code writes True and False into forms, which the service does not accept.
    forms = {"files": [_lower_boolean(part) for part in request["files"]]} if "files" in request else {}
    return {**request, **forms, "headers": headers}


def _lower_boolean(part: tuple[str, tuple[Any, ...]]) -> tuple[str, tuple[Any, ...]]:
    name, (file_name, content, *rest) = part
    is_boolean = file_name is None and content in (b"True", b"False")
    return name, (file_name, content.lower() if is_boolean else content, *rest)


def next_page(call: Call[T], response: httpx.Response) -> Call[T] | None:
    """Returns the call for the next page of a list, or None after the last page.

    Raises CursorAheadError if the page is empty because the cursor is above the newest event.
    """
    body = response.json()
    meta = body.get("meta", {})
    place = _place(call)
    fields = call.request.get(place, {})
    if meta.get("is_ahead"):
        raise CursorAheadError(fields["after"], meta["last_sequence"])
    if "next_before" in meta:
        following = {"before": meta["next_before"]} if meta["next_before"] else None
    elif "next_after" in meta:
        following = {"after": meta["next_after"]} if meta["has_more"] else None
    else:
        page = fields.get("page", 1)
        pages = meta.get("total_pages", -(-body.get("total", 0) // fields.get("limit", 1)))
        following = {"page": page + 1} if page < pages else None
    if following is None:
        return None
    return Call({**call.request, place: {**fields, **following}}, call.parse)


def prealert_fields(prealert: Prealert) -> dict[str, Any]:
    """Returns the fields with the names of the API."""
    if isinstance(prealert, Mapping):
        return fields_of(prealert, "submit_prealert")
    return prealert.to_dict()


class BatchSize:
    """How many lines the next request of a batch has."""

    def __init__(self, lines: int) -> None:
        self.lines = lines

    def halve(self, sent: int) -> None:
        """Halves the size after a request with so many lines did not arrive in time."""
        self.lines = -(-sent // 2)


def batches(prealerts: Iterable[Prealert], size_of: BatchSize) -> Iterator[list[bytes]]:
    """Divides pre-alerts into lines of JSON for one body each, at most as large as the service accepts them."""
    lines: list[bytes] = []
    size = 0
    for prealert in prealerts:
        line = json.dumps(prealert_fields(prealert), ensure_ascii=False).encode() + b"\n"
        if len(lines) >= size_of.lines or size + len(line) > BATCH_BYTES:
            yield lines
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield lines


def batch_call(lines: list[bytes], *, atomic: bool = False, before: int = 0) -> Call[list[BatchResult]]:
    """Returns the call that submits a body of batches(). `before` is the number of lines of the bodies before it."""
    request: dict[str, Any] = {
        "method": "POST",
        "url": "/api/Prealert.php",
        "params": {"atomic": "true"} if atomic else {},
        "content": b"".join(lines),
        "headers": {"Content-Type": "application/x-ndjson"},
        "extensions": {OPERATION: "submitPrealert", **({DIVISIBLE: True} if len(lines) > 1 and not atomic else {})},
    }

    def parse(response: httpx.Response) -> list[BatchResult]:
        results = [BatchResult.from_dict(each, before) for each in response.json()["data"]["results"]]
        if len(results) != len(lines):
            raise IncompleteBatchError(len(lines), results)
        return results

    return Call(request, parse)


def is_too_slow(error: ApiError, lines: list[bytes], options: Options) -> bool:
    """Returns whether a batch did not arrive in time and can be divided. Nothing of it is stored."""
    return error.status == 408 and len(lines) > 1 and options.max_retries > 0


def single_batch(prealerts: Iterable[Prealert]) -> list[bytes] | None:
    """Returns the lines of all pre-alerts, or None if there are none."""
    found = list(batches(prealerts, BatchSize(MAX_BATCH_LINES)))
    if len(found) > 1:
        raise ValueError("At most 1,000 pre-alerts, or 4 MiB, can be submitted all or none.")
    return found[0] if found else None


def suggested_name(response: httpx.Response) -> str | None:
    """Returns the file name that the service suggests."""
    found = re.search(r'filename="([^"]+)"', response.headers.get("content-disposition", ""))
    return PurePath(found[1]).name if found else None
