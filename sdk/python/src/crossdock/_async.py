"""Clients for programs with asyncio. `npm run sdk -- python` makes _sync.py from this file."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterable
from itertools import count
from types import TracebackType
from typing import Any, BinaryIO, ParamSpec, TypeVar
from uuid import UUID

import httpx

from . import _requests
from ._core.async_resources import AsyncKeyPrealerts, AsyncResources
from ._core.models import (
    CustomerImport,
    CustomerUpload,
    LoggedInUser,
    PrealertImport,
    PrealertUpload,
)
from ._core.types import UNSET, File
from ._requests import ListResult, Prealert
from ._retry import HARMLESS, Attempts
from .api import list_events, submit_prealert, upload_customers, upload_prealerts
from .batch import BatchResult
from .call import Call
from .credential import header_of, required
from .errors import ApiError, CrossdockError, NoResponseError, SecondFactorRequiredError, error_of
from .options import Options
from .submission import Submission
from .webhook import Event

P = ParamSpec("P")
T = TypeVar("T")

# A new password or second factor ends the token. The response has the next one.
_ENDS_TOKENS = ("/api/ChangePassword.php", "/api/TwoFactor.php")


class _AsyncBaseClient:
    """Sends requests over one pool of connections, and sends them again where that is safe and useful."""

    def __init__(self, base_url: str, options: Options) -> None:
        self._options = options
        self._http = httpx.AsyncClient(**_requests.settings(base_url, options))

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def _send(self, request: httpx.Request, stream: bool = False) -> httpx.Response:
        """Returns the first response that needs no retry. It can be a failure. Only a success is streamed."""
        attempts = Attempts(self._options)
        for number in count(1):
            wait: float | None
            begin = time.monotonic()
            try:
                response = await self._attempt(request, stream)
            except httpx.TransportError as error:
                _requests.report(self._options, request, number, begin, error)
                wait = attempts.wait_after_error(error, request)
                if wait is None:
                    raise NoResponseError(error) from error
            else:
                _requests.report(self._options, request, number, begin, response)
                wait = None if response.is_success else attempts.wait_after_response(response)
                if wait is None:
                    return response
            await asyncio.sleep(wait)
        raise AssertionError("count() has no end.")

    async def _attempt(self, request: httpx.Request, stream: bool) -> httpx.Response:
        """Sends a request once, and reads the whole response within the time limit."""
        until = _requests.start_limit(request, self._options)
        response = await self._http.send(request, stream=True)
        if stream and response.is_success and _requests.is_file(response):
            return response
        _requests.limit_body(request, until)
        content = bytearray()
        try:
            async for chunk in response.aiter_raw():
                content += chunk
                _requests.check_limit(request, until)
        finally:
            await response.aclose()
        return _requests.read_response(response, bytes(content))


class AsyncKeyClient(_AsyncBaseClient):
    """Announces parcels with the API key of a courier, or with a service token that has the scope `prealerts:write`.

    For other calls, use AsyncClient.
    Use it in an `async with` statement, or call close().
    """

    def __init__(self, base_url: str, api_key: str, options: Options = Options()) -> None:
        super().__init__(base_url, options)
        self._http.headers.update(header_of(api_key))
        self.prealerts = AsyncKeyPrealerts(self)

    async def __aenter__(self) -> AsyncKeyClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def submit(self, prealert: Prealert, *, idempotency_key: str | None = None) -> Submission:
        """Submits a pre-alert and returns its `prealert_id` and the `warnings`.

        A dict has the names of the API or those of the class.

        `idempotency_key` is your own key, new for each attempted change and stored with it, if you may submit the same
        pre-alert again after a crash. Raises DuplicateError if the courier already has a pre-alert
        with this tracking number: see its `existing`.
        """
        return Submission.of((await self._call(submit_prealert(body=prealert), idempotency_key)).data)

    async def submit_many(self, prealerts: Iterable[Prealert]) -> list[BatchResult]:
        """Submits any number of pre-alerts and returns one result per pre-alert, in the same order.

        A request has 250 of them, see Options.

        A pre-alert that the service refuses does not stop the others: check `status` of each result. If a request
        fails, the error has the results before it in `results`. Call it again: pre-alerts that were already submitted
        then have the status `duplicate`, and `existing` of their result has the `prealert_id`.
        """
        results: list[BatchResult] = []
        try:
            async for result in self.submit_each(prealerts):
                results.append(result)
        except CrossdockError as error:
            error.results = [*results, *error.results]
            raise
        return results

    async def submit_each(self, prealerts: Iterable[Prealert]) -> AsyncIterator[BatchResult]:
        """Does the same, but yields each result when its request is done."""
        before = 0
        size = _requests.BatchSize(self._options.batch_lines)
        for lines in _requests.batches(prealerts, size):
            while lines:
                part = lines[: size.lines]
                try:
                    results = await self._call(_requests.batch_call(part, before=before))
                except ApiError as error:
                    if not _requests.is_too_slow(error, part, self._options):
                        raise
                    size.halve(len(part))
                    continue
                before += len(results)
                lines = lines[len(part) :]
                for result in results:
                    yield result

    async def submit_all_or_none(
        self, prealerts: Iterable[Prealert], *, idempotency_key: str | None = None
    ) -> list[BatchResult]:
        """Submits up to 1,000 pre-alerts. If one is refused, none is stored, and `errors` of the error names each."""
        lines = _requests.single_batch(prealerts)
        return [] if lines is None else await self._call(_requests.batch_call(lines, atomic=True), idempotency_key)

    async def _call(self, call: Call[T], idempotency_key: str | None = None) -> T:
        request = self._http.build_request(**_requests.prepare(call.request, idempotency_key))
        response = await self._send(request)
        if not response.is_success:
            raise error_of(response)
        return call.parse(response)


class AsyncEvents:
    """The events of a courier, exactly as in its webhooks."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def list(
        self, after: int = 0, *, courier_id: UUID | str | None = None, limit: int | None = None
    ) -> AsyncIterator[Event]:
        """Returns all events after a sequence number, oldest first, and ends at the newest one.

        Store the `sequence` of each event with your work on it, and continue from there next time. Staff name the
        courier with `courier_id`. Raises CursorAheadError if the number is above the newest event.
        """
        size = UNSET if limit is None else limit
        first = list_events(after=after, courier_id=courier_id or UNSET, limit=size)
        call: Call[Any] | None = _requests.with_page_size(first, self._client._options.page_size)
        while call is not None:
            response = await self._client._authorized(call)
            for body in response.json()["data"]:
                yield Event.from_dict(body)
            call = _requests.next_page(call, response)

    def __call__(
        self, after: int = 0, *, courier_id: UUID | str | None = None, limit: int | None = None
    ) -> AsyncIterator[Event]:
        """The same as list()."""
        return self.list(after, courier_id=courier_id, limit=limit)


class AsyncClient(_AsyncBaseClient, AsyncResources):
    """Calls the API as a user: staff, or a courier. It logs in when needed, and again when the token has expired.

    Use it in an `async with` statement, or call close(). `second_factor` returns the current code, if the user has
    two-factor authentication. With `token`, a service token, it logs in never: `AsyncClient(url, token=...)`.

    `packages`, `prealerts` and the other attributes have the operations of the API reference.
    """

    def __init__(
        self,
        base_url: str,
        username: str | None = None,
        password: str | None = None,
        *,
        token: str | None = None,
        second_factor: Callable[[], str] | None = None,
        options: Options = Options(),
    ) -> None:
        super().__init__(base_url, options)
        self._username = self._password = ""
        self._is_fixed = token is not None
        if not self._is_fixed:
            self._username = required("user name", username)
            self._password = required("password", password)
        self._second_factor = second_factor
        self._token: str | None = required("token", token) if self._is_fixed else None
        self._login_lock = asyncio.Lock()
        self._add_resources(self)
        self.events = AsyncEvents(self)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def log_in(self) -> LoggedInUser:
        """Logs in and returns the user. Other calls log in by themselves."""
        if self._is_fixed:
            raise CrossdockError("This client has a token, no user name and password.")
        async with self._login_lock:
            return await self._log_in()

    async def send(self, call: Call[T], *, idempotency_key: str | None = None) -> T:
        """Sends a call of crossdock.api and returns the response.

        `idempotency_key` is your own key, if you may repeat the call after a crash. Raises ApiError if the service
        refuses the request, and NoResponseError.
        """
        return call.parse(await self._authorized(call, idempotency_key))

    async def each(
        self, operation: Callable[P, Call[ListResult[T]]], *args: P.args, **filters: P.kwargs
    ) -> AsyncIterator[T]:
        """Returns the records of all pages of a list. It requests the next page when you have used the last one.

        `limit` is the number of records per page. Without it, pages are large. A record that leaves the list while you
        read hides another one. So do not filter by a field that changes meanwhile, for example the status. Read the
        oldest first, and filter here.

        async for prealert in crossdock.each(list_prealerts, sort_by="created_at", sort_dir="ASC"): ...
        """
        size = self._options.page_size
        call: Call[ListResult[T]] | None = _requests.with_page_size(operation(*args, **filters), size)
        while call is not None:
            response = await self._authorized(call)
            for record in call.parse(response).data:
                yield record
            call = _requests.next_page(call, response)

    async def upload_customers(
        self,
        file: str | os.PathLike[str] | BinaryIO,
        *,
        courier_id: UUID | None = None,
        dry_run: bool = False,
    ) -> CustomerImport:
        """Creates and updates customers from a CSV file: user_code, first_name, last_name, branch. All rows, or none.

        Staff name the courier with `courier_id`. `dry_run` checks the file and stores nothing.
        """
        if isinstance(file, (str, os.PathLike)):
            with open(file, "rb") as opened:
                return await self.upload_customers(opened, courier_id=courier_id, dry_run=dry_run)
        part = File(payload=file, file_name="customers.csv", mime_type="text/csv")
        body = CustomerUpload(file=part, target_courier_id=str(courier_id) if courier_id else UNSET, dry_run=dry_run)
        return (await self.send(upload_customers(body=body))).data

    async def upload_prealerts(
        self,
        file: str | os.PathLike[str] | BinaryIO,
        *,
        courier_id: UUID | None = None,
        dry_run: bool = False,
    ) -> PrealertImport:
        """Creates pre-alerts from a CSV file with a line of column names. All rows, or none.

        Rows that were announced before are counted as `duplicate`. Staff name the courier with `courier_id`. `dry_run`
        checks the file and stores nothing.
        """
        if isinstance(file, (str, os.PathLike)):
            with open(file, "rb") as opened:
                return await self.upload_prealerts(opened, courier_id=courier_id, dry_run=dry_run)
        part = File(payload=file, file_name="prealerts.csv", mime_type="text/csv")
        body = PrealertUpload(file=part, target_courier_id=str(courier_id) if courier_id else UNSET, dry_run=dry_run)
        return (await self.send(upload_prealerts(body=body))).data

    async def download(self, call: Call[File | str], target: str | os.PathLike[str] | BinaryIO) -> str | None:
        """Writes a file of the service to a path or to an open file, without keeping it in memory.

        Returns the file name that the service suggests, if it suggests one. A path gets the file only when it is
        complete.

        await crossdock.download(export_packages_xlsx(limit=10_000), "packages.xlsx")
        """
        if not isinstance(target, (str, os.PathLike)):
            return await self._download(call, target)
        part = f"{os.fspath(target)}.part"
        try:
            with open(part, "wb") as opened:
                name = await self._download(call, opened)
            shutil.move(part, target)
            return name
        finally:
            if os.path.exists(part):
                os.remove(part)

    async def _download(self, call: Call[File | str], target: BinaryIO) -> str | None:
        start = target.tell() if target.seekable() else None
        attempts = Attempts(self._options)
        while True:
            response = await self._authorized(call, stream=True)
            try:
                async for chunk in response.aiter_bytes():
                    target.write(chunk)
                return _requests.suggested_name(response)
            except httpx.TransportError as error:
                wait = attempts.wait_after_error(error, response.request)
                if start is None or wait is None:
                    raise NoResponseError(error) from error
            finally:
                await response.aclose()
            target.seek(start)
            target.truncate()
            await asyncio.sleep(wait)

    async def _authorized(
        self, call: Call[Any], idempotency_key: str | None = None, *, stream: bool = False
    ) -> httpx.Response:
        """Sends a request with the token of the user, and again with a new token if the service refuses the first."""
        request = self._http.build_request(**_requests.prepare(call.request, idempotency_key))
        token = await self._token_other_than(None)
        request.headers["Authorization"] = f"Bearer {token}"
        response = await self._send(request, stream)
        if response.status_code == 401 and not self._is_fixed:
            request.headers["Authorization"] = f"Bearer {await self._token_other_than(token)}"
            response = await self._send(request, stream)
        if not response.is_success:
            raise error_of(response)
        if call.request["url"] in _ENDS_TOKENS and not self._is_fixed:
            self._token = response.json()["data"].get("access_token", self._token)
        return response

    async def _token_other_than(self, refused: str | None) -> str:
        """Returns the token, after a new login if it was refused. Tasks that wait for a login share its token."""
        async with self._login_lock:
            if self._token is None or self._token == refused:
                await self._log_in()
            assert self._token is not None
            return self._token

    async def _log_in(self) -> LoggedInUser:
        step = await self._login_step({"action": "login", "username": self._username, "password": self._password})
        if step["status"] == "2fa_required":
            if self._second_factor is None:
                raise SecondFactorRequiredError("The user has two-factor authentication. Pass second_factor.")
            preauth = {"preauth_token": step["data"]["preauth_token"], "code": self._second_factor()}
            step = await self._login_step({"action": "verify_2fa", **preauth})
        self._token = step["data"]["access_token"]
        return LoggedInUser.from_dict(step["data"]["user"])

    async def _login_step(self, body: dict[str, str]) -> dict[str, Any]:
        extensions = {_requests.OPERATION: "login"}
        request = self._http.build_request("POST", "/api/login.php", json=body, extensions=extensions)
        if body["action"] == "login":
            # Another login only creates another session. A code is valid once.
            request.extensions[HARMLESS] = True
        response = await self._send(request)
        if not response.is_success:
            raise error_of(response)
        step: dict[str, Any] = response.json()
        return step
