"""Tests of the library against a running service: python -m unittest. The environment names the service."""

import asyncio
import base64
import datetime
import hashlib
import hmac
import os
import secrets
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import UUID

from crossdock import (
    ApiError,
    AsyncClient,
    AsyncKeyClient,
    Attempt,
    AuthenticationError,
    Client,
    CrossdockError,
    CursorAheadError,
    DuplicateError,
    Event,
    ForbiddenError,
    IncompleteBatchError,
    InvalidRequestError,
    KeyClient,
    NoResponseError,
    NotFoundError,
    Options,
    PrealertSubmission,
    RateLimitError,
    SecondFactorRequiredError,
    ServerError,
    WebhookError,
    api,
    format_time,
    models,
    parse_time,
    verify_payload,
    verify_webhook,
)
from crossdock._requests import with_page_size
from crossdock.api import (
    change_password,
    export_packages_csv,
    get_package_label,
    list_audit_entries,
    list_branches,
    list_customers,
    list_packages,
    list_prealerts,
    manage_sessions,
    receive_package,
)
from crossdock.models import LogOutAction, PackageSearch, PasswordChange

URL = os.environ["CROSSDOCK_URL"]
FAILING_URL = os.environ["CROSSDOCK_FAILING_URL"]
API_KEY = os.environ["CROSSDOCK_API_KEY"]
PASSWORD = os.environ["CROSSDOCK_PASSWORD"]
COURIER_ID = UUID(os.environ["CROSSDOCK_COURIER_ID"])
MISSING = UUID("00000000-0000-7000-8000-000000000000")
ONCE = Options(max_retries=0, timeout=5)


def prealert(number: str, user_code: str = "IEX-1001") -> PrealertSubmission:
    return PrealertSubmission(user_code=user_code, tracking_number=number)


# Names the modules of generated records and operations that a program has imported.
IMPORTED = "[name for name in sys.modules if name.startswith(('crossdock._core.models.', 'crossdock._core.api.'))]"


def lines_of(program: str) -> list[str]:
    """Runs a program in a fresh interpreter."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()


class ImportTest(unittest.TestCase):
    def test_the_library_imports_only_the_records_that_a_program_uses(self) -> None:
        [first, after] = lines_of(
            f"import sys, crossdock, crossdock.api, crossdock.models\nprint(len({IMPORTED}))\n"
            f"from crossdock.models import DispatchRecord\nprint(len({IMPORTED}))"
        )
        self.assertLess(int(first), 60)
        self.assertGreater(int(after), int(first))

    def test_every_record_and_operation_can_be_imported(self) -> None:
        for module in (models, api):
            self.assertGreater(len(module.__all__), 70)
            self.assertEqual(module.__all__, [name for name in module.__all__ if hasattr(module, name)])
            self.assertEqual(dir(module), sorted(module.__all__))
            with self.assertRaises(AttributeError):
                module.NoSuchName  # noqa: B018
        self.assertEqual(
            lines_of("from crossdock.models import *\nfrom crossdock.api import *\nprint(File.__name__)"), ["File"]
        )


def signed(body: bytes, secret: str, at: float | None = None, before: str = "") -> dict[str, str]:
    timestamp = str(int(time.time() if at is None else at))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, b"id-1." + timestamp.encode() + b"." + body, hashlib.sha256).digest()
    signature = f"{before}v1,{base64.b64encode(digest).decode()}"
    return {"Webhook-Id": "id-1", "Webhook-Timestamp": timestamp, "Webhook-Signature": signature}


def totp(secret: str) -> str:
    """The time-based code of the demo user with two-factor authentication."""
    digest = hmac.new(base64.b32decode(secret), struct.pack(">Q", int(time.time()) // 30), hashlib.sha1).digest()
    number: int = struct.unpack_from(">I", digest, digest[19] & 15)[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"


class KeyClientTest(unittest.TestCase):
    def setUp(self) -> None:
        self.partner = self.enterContext(KeyClient(URL, API_KEY))

    def test_a_duplicate_is_an_error_of_its_own(self) -> None:
        self.assertIsInstance(self.partner.submit(prealert("PY-1")).prealert_id, UUID)
        with self.assertRaises(DuplicateError) as caught:
            self.partner.submit(prealert("PY-1"))
        self.assertEqual((caught.exception.status, caught.exception.code), (409, "duplicate_tracking_number"))
        self.assertEqual(len(caught.exception.request_id or ""), 36)

    def test_a_duplicate_names_the_existing_record(self) -> None:
        first = self.partner.submit(prealert("PY-EXISTING")).prealert_id
        for user_code, differs in (("IEX-1001", False), ("IEX-1002", True)):
            with self.assertRaises(DuplicateError) as caught:
                self.partner.submit(prealert("PY-EXISTING", user_code))
            existing = caught.exception.existing
            assert existing is not None
            self.assertEqual((existing.prealert_id, existing.user_code, existing.differs), (first, "IEX-1001", differs))
        [result] = self.partner.submit_many([prealert("PY-EXISTING", "IEX-1002")])
        self.assertEqual(result.existing and result.existing.differs, True)

    def test_a_prealert_can_be_a_dict(self) -> None:
        for given in (
            {"UserCode": "IEX-1001", "TrackingNumber": "PY-DICT-1"},
            {"user_code": "IEX-1001", "tracking_number": "PY-DICT-2"},
        ):
            self.assertIsInstance(self.partner.submit(given).prealert_id, UUID)
        results = self.partner.submit_many([{"UserCode": "IEX-1001", "TrackingNumber": "PY-DICT-3"}])
        self.assertEqual(results[0].status, "created")
        wrong = {"UserCode": "IEX-1001", "TrackingNo": "PY-DICT-4"}
        with self.assertRaisesRegex(ValueError, "TrackingNo. It has: UserCode, TrackingNumber"):
            self.partner.submit(wrong)
        with self.assertRaisesRegex(ValueError, "TrackingNo"):
            self.partner.submit_many([wrong])

    def test_the_same_idempotency_key_returns_the_first_response(self) -> None:
        key = secrets.token_hex(16)
        first = self.partner.submit(prealert("PY-2"), idempotency_key=key)
        self.assertEqual(self.partner.submit(prealert("PY-2"), idempotency_key=key), first)

    def test_a_failure_names_the_wrong_fields(self) -> None:
        with self.assertRaises(InvalidRequestError) as caught:
            self.partner.submit(prealert("PY-3", "NOBODY"))
        self.assertEqual(caught.exception.code, "unknown_user_code")
        self.assertEqual(caught.exception.errors[0]["field"], "UserCode")
        with self.enterContext(KeyClient(URL, "f" * 64)) as stranger, self.assertRaises(ForbiddenError):
            stranger.submit(prealert("PY-3"))

    def test_many_prealerts_are_sent_in_batches_with_one_result_each(self) -> None:
        many = [prealert(f"PY-MANY-{number}") for number in range(1001)]
        many += [prealert("PY-MANY-1"), prealert("PY-MANY", "NOBODY"), prealert(" ")]
        results = self.partner.submit_many(many)
        self.assertEqual([result.line for result in results], list(range(1, 1005)))
        statuses = [result.status for result in results]
        self.assertEqual(statuses, ["created"] * 1001 + ["duplicate", "unknown_customer", "invalid"])

    def test_warnings_come_with_the_id_of_a_single_pre_alert_and_of_a_line(self) -> None:
        submission = self.partner.submit(prealert("NO NUMBER YET"))
        self.assertEqual([each.code for each in submission.warnings], ["unlikely_number"])
        self.assertEqual(str(submission), str(submission.prealert_id))
        self.assertEqual(self.partner.submit(prealert("PY-CERTAIN-1")).warnings, [])
        doubtful, certain = self.partner.submit_many([prealert("NOT KNOWN"), prealert("PY-CERTAIN-2")])
        self.assertEqual((doubtful.status, doubtful.warnings[0].code), ("created", "unlikely_number"))
        self.assertEqual(certain.warnings, [])
        [stored] = self.partner.submit_all_or_none([prealert("TO FOLLOW")])
        self.assertEqual(stored.warnings[0].code, "unlikely_number")

    def test_a_service_token_submits_as_an_api_key_does(self) -> None:
        action = {"action": "create", "name": "python", "scopes": ["prealerts:write"], "current_password": PASSWORD}
        with Client(URL, "iex", PASSWORD) as courier:
            created = courier.send(api.manage_service_tokens(body=models.CreateServiceTokenAction.from_dict(action)))
        assert created.data.token is not None
        with KeyClient(URL, created.data.token) as machine:
            self.assertIsInstance(machine.submit(prealert("PY-TOKEN-1")).prealert_id, UUID)
            self.assertEqual(machine.submit_many([prealert("PY-TOKEN-2")])[0].status, "created")
        with KeyClient(URL, "cdk_wrong") as wrong, self.assertRaises(AuthenticationError):
            wrong.submit(prealert("PY-TOKEN-3"))

    def test_all_or_none_stores_nothing_if_one_is_refused(self) -> None:
        with self.assertRaises(InvalidRequestError) as caught:
            self.partner.submit_all_or_none([prealert("PY-ALL-1"), prealert("PY-ALL-2", "NOBODY")])
        self.assertEqual(caught.exception.errors[0]["row"], 2)
        self.assertEqual(len(self.partner.submit_all_or_none([prealert("PY-ALL-1")])), 1)
        with self.assertRaises(DuplicateError):
            self.partner.submit_all_or_none([prealert("PY-ALL-1")])
        with self.assertRaises(ValueError):
            self.partner.submit_all_or_none(prealert("PY-ALL-3") for _ in range(1001))


class ClientTest(unittest.TestCase):
    def setUp(self) -> None:
        self.staff = self.enterContext(Client(URL, "admin", PASSWORD))
        self.courier = self.enterContext(Client(URL, "iex", PASSWORD))
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_lists_return_every_record_once_over_all_pages(self) -> None:
        total = self.courier.send(list_prealerts(limit=1)).meta.total_records
        ids = [record.prealert_id for record in self.courier.each(list_prealerts, sort_by="tracking_number")]
        self.assertEqual((len(ids), len(set(ids))), (total, total))
        customers = list(self.courier.each(list_customers, limit=90))
        self.assertEqual(len(customers), self.courier.send(list_customers()).total)
        meta = self.courier.send(list_packages()).meta
        packages = list(self.courier.each(list_packages, body=PackageSearch(limit=100)))
        self.assertEqual(len(packages), meta.total_count)
        self.assertAlmostEqual(sum(package.weight for package in packages), meta.total_weight, 3)
        entries = self.staff.each(list_audit_entries, limit=1)
        self.assertEqual(len({next(entries).sequence for _ in range(3)}), 3)

    def test_filters_can_be_a_dict_and_dates_texts(self) -> None:
        total = self.courier.send(list_packages()).meta.total_count
        date = datetime.date(2020, 1, 1)
        bodies: list[PackageSearch | dict[str, Any]] = [
            PackageSearch(entry_date_floor="2020-01-01", courier_id=str(COURIER_ID)),
            PackageSearch(entry_date_floor=date, courier_id=COURIER_ID),
            {"entryDateFloor": "2020-01-01", "courierID": COURIER_ID},
            {"entry_date_floor": date},
        ]
        for body in bodies:
            self.assertEqual(self.courier.send(list_packages(body=body)).meta.total_count, total)
            self.assertEqual(len(list(self.courier.each(list_packages, body=body))), total)
        later = PackageSearch(entry_date_floor="2100-01-01")
        self.assertEqual(self.courier.send(list_packages(body=later)).meta.total_count, 0)
        with self.assertRaisesRegex(ValueError, "entryDateCeil"):
            list_packages(body={"entryDateCeil": "2020-01-01"})

    def test_a_list_without_a_filter_oldest_first_skips_nothing_while_parcels_are_received(self) -> None:
        numbers = [f"PY-LIST-{number:02}" for number in range(12)]
        with KeyClient(URL, API_KEY) as partner:
            partner.submit_many([prealert(number) for number in numbers])

        def read(**filters: Any) -> set[str]:
            seen: set[str] = set()
            for record in self.courier.each(list_prealerts, search="PY-LIST-", limit=3, **filters):
                if record.status == "pending":
                    seen.add(record.tracking_number)
                    self.staff.send(receive_package(body={"tracking_number": record.tracking_number, "weight": 1}))
            return seen

        # The documentation says that this one skips.
        skipping = read(status="pending", sort_by="created_at", sort_dir="ASC")
        self.assertLess(len(skipping), len(numbers))
        rest = read(sort_by="created_at", sort_dir="ASC")
        self.assertEqual(skipping | rest, set(numbers))
        self.assertFalse(skipping & rest)

    def test_a_customer_is_created_as_the_readme_says(self) -> None:
        body = models.CustomerCreation("PY-NEW-1", first_name="Ann", last_name="Lee")
        self.assertEqual(len(str(self.courier.send(api.create_customer(body=body)).data.id)), 36)

    def test_a_time_is_in_utc(self) -> None:
        for text in ("2026-11-22 21:40:00", "2026-11-22T21:40:00Z"):
            self.assertEqual(parse_time(text).isoformat(), "2026-11-22T21:40:00+00:00")
        later = datetime.datetime.fromisoformat("2026-11-22T16:40:00-05:00")
        self.assertEqual(format_time(later), "2026-11-22 21:40:00")

    def test_lists_request_large_pages(self) -> None:
        self.assertEqual(with_page_size(list_packages(), 500).request["json"]["limit"], 500)
        self.assertEqual(with_page_size(list_packages(body=PackageSearch(limit=7)), 500).request["json"]["limit"], 7)
        self.assertEqual(with_page_size(list_audit_entries(limit=2), 500).request["params"]["limit"], 2)

    def test_a_filter_does_not_make_pages_small(self) -> None:
        self.assertEqual(with_page_size(list_packages(body=PackageSearch(q="abc")), 500).request["json"]["limit"], 500)
        self.assertEqual(with_page_size(list_customers(), 500).request["params"]["limit"], 100)
        self.assertEqual(with_page_size(list_packages(), 2).request["json"]["limit"], 2)

    def test_resources_do_what_the_operations_do_with_keyword_arguments_and_dates(self) -> None:
        packages = list(self.courier.packages.list(entry_date_floor=datetime.date(2020, 1, 1)))
        page = self.courier.packages.page(entry_date_floor="2020-01-01", limit=2)
        self.assertEqual((len(packages), len(page.data)), (page.meta.total_count, 2))
        newest = max(package.entry_date_time for package in packages)
        self.assertEqual(newest.tzinfo, datetime.timezone.utc)
        late = newest.astimezone(datetime.timezone(datetime.timedelta(hours=-5)))
        changed = self.courier.packages.page(changed_since=late + datetime.timedelta(days=400))
        self.assertEqual(changed.meta.total_count, 0)
        self.assertEqual(
            self.courier.packages.page(changed_since="2020-01-01 00:00:00").meta.total_count, len(packages)
        )
        created = self.courier.customers.create(user_code="PY-RES-1", first_name="Ann", last_name="Lee")
        self.assertIn("PY-RES-1", [customer.user_code for customer in self.courier.customers.list(search="PY-RES")])
        self.assertEqual(len(str(created.id)), 36)
        events = list(self.courier.events.list(2, limit=3))
        self.assertEqual(events, list(self.courier.events(2)))
        label = BytesIO()
        self.staff.packages.label(label, package_id=packages[0].package_id)
        self.assertEqual(label.getvalue()[:4], b"%PDF")
        with KeyClient(URL, API_KEY) as partner:
            first = partner.prealerts.submit(
                user_code="IEX-1001", tracking_number="PY-RES-2", idempotency_key="py-res-2"
            )
            self.assertEqual(partner.prealerts.submit_many([prealert("PY-RES-2")])[0].existing is not None, True)
        [found] = self.courier.prealerts.list(search="PY-RES-2")
        self.assertEqual(found.prealert_id, first.prealert_id)

    def test_an_event_has_the_class_of_its_type_and_a_time(self) -> None:
        event = next(iter(self.courier.events()))
        self.assertIsInstance(event.typed, models.PackageCreatedEvent)
        assert isinstance(event.typed, models.PackageCreatedEvent)
        self.assertEqual(event.typed.data.tracking_number, event.data["tracking_number"])
        self.assertEqual(event.typed.timestamp, event.time)
        self.assertEqual(event.typed.timestamp_utc, event.timestamp_utc)
        newer = Event("package.invented", "id", 1, "2026-11-21 15:10:00", {})
        self.assertIsNone(newer.typed)

    def test_a_client_with_a_token_does_not_log_in(self) -> None:
        with Client(URL, "iex", PASSWORD) as client:
            client.log_in()
            token = client._token
        with Client(URL, token=token) as client:
            self.assertGreater(len(client.prealerts.page(limit=1).data), 0)
            with self.assertRaisesRegex(CrossdockError, "has a token"):
                client.log_in()
        with Client(URL, token="wrong") as client, self.assertRaises(AuthenticationError):
            client.prealerts.page()
        with self.assertRaisesRegex(ValueError, "The token is"):
            Client(URL, token="")

    def test_branches_have_a_call_of_their_own(self) -> None:
        self.assertIn("Kingston", self.courier.send(list_branches()))

    def test_events_continue_from_a_cursor(self) -> None:
        events = list(self.courier.events(limit=3))
        self.assertGreater(len(events), 6)
        rest = list(self.staff.events(events[4].sequence or 0, courier_id=COURIER_ID))
        self.assertEqual(rest, events[5:])

    def test_a_cursor_above_the_newest_event_is_an_error_and_not_silence(self) -> None:
        last = max(event.sequence or 0 for event in self.courier.events())
        self.assertEqual(list(self.courier.events(last)), [])
        with self.assertRaises(CursorAheadError) as raised:
            list(self.courier.events(last + 1))
        self.assertEqual((raised.exception.after, raised.exception.last_sequence), (last + 1, last))
        with self.assertRaises(CursorAheadError):
            list(self.courier.each(api.list_events, after=9999))

        async def read() -> None:
            async with AsyncClient(URL, "iex", PASSWORD) as courier:
                async for _ in courier.events(9999):
                    pass

        with self.assertRaises(CursorAheadError):
            asyncio.run(read())

    def test_a_customer_file_is_uploaded_from_a_path_or_a_file(self) -> None:
        good, bad = self.folder / "good.csv", self.folder / "bad.csv"
        good.write_text("user_code,first_name,last_name\nPY-U1,Ann,Lee\n")
        bad.write_text("user_code,first_name,last_name\nPY-U2,,Lee\n")
        check = self.staff.upload_customers(good, courier_id=COURIER_ID, dry_run=True)
        self.assertEqual((check.created, check.dry_run), (1, True))
        with good.open("rb") as file:
            self.assertEqual(self.staff.upload_customers(file, courier_id=COURIER_ID).created, 1)
        self.assertEqual(self.courier.upload_customers(good).unchanged, 1)
        with self.assertRaises(InvalidRequestError) as caught:
            self.courier.upload_customers(bad)
        self.assertEqual((caught.exception.errors[0]["row"], caught.exception.errors[0]["field"]), (2, "first_name"))

    def test_a_file_of_prealerts_is_uploaded(self) -> None:
        file = self.folder / "prealerts.csv"
        file.write_text("tracking_number,user_code\nPY-CSV,IEX-1001\n")
        self.assertEqual(self.staff.upload_prealerts(file, courier_id=COURIER_ID, dry_run=True).created, 1)
        self.assertEqual(self.courier.upload_prealerts(file).created, 1)
        self.assertEqual(self.courier.upload_prealerts(file).duplicate, 1)

    def test_a_file_is_streamed_to_a_path_only_when_it_is_complete(self) -> None:
        target = self.folder / "packages.csv"
        name = self.staff.download(export_packages_csv(limit=3), target)
        self.assertRegex(name or "", r"^packages-[\d-]+\.csv$")
        self.assertEqual(len(target.read_text().splitlines()), 4)
        with self.assertRaises(NotFoundError):
            self.staff.download(get_package_label(package_id=MISSING), self.folder / "label.pdf")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["packages.csv"])
        package = self.staff.send(list_packages()).data[0]
        file = BytesIO()
        self.staff.download(get_package_label(package_id=package.package_id), file)
        self.assertEqual(file.getvalue()[:4], b"%PDF")

    def test_an_ended_session_leads_to_a_new_login(self) -> None:
        with Client(URL, "manager", PASSWORD) as client:
            client.send(list_prealerts())
            client.send(manage_sessions(body=LogOutAction("logout")))
            self.assertGreater(len(client.send(list_prealerts(limit=1)).data), 0)

    def test_a_new_password_ends_the_token_and_the_client_takes_the_next_one(self) -> None:
        with Client(URL, "hrb", PASSWORD) as client:
            client.send(change_password(body=PasswordChange(PASSWORD, secrets.token_hex(12))))
            self.assertGreater(len(client.send(list_prealerts(limit=1)).data), 0)

    def test_wrong_credentials_are_an_error(self) -> None:
        with Client(URL, "nobody", PASSWORD) as client, self.assertRaises(AuthenticationError):
            client.send(list_prealerts())

    def test_two_factor_authentication_asks_for_a_code(self) -> None:
        with Client(URL, "guarded", PASSWORD) as client, self.assertRaises(SecondFactorRequiredError):
            client.log_in()
        code = totp("KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU")
        with Client(URL, "guarded", PASSWORD, second_factor=lambda: code) as client:
            self.assertEqual(client.log_in().role, "manager")


class AsyncTest(unittest.IsolatedAsyncioTestCase):
    async def test_the_async_clients_do_the_same(self) -> None:
        async with AsyncKeyClient(URL, API_KEY) as partner:
            await asyncio.gather(*(partner.submit(prealert(f"PY-ASYNC-{number}")) for number in range(5)))
            results = await partner.submit_many([prealert("PY-ASYNC-1")])
            self.assertEqual(results[0].status, "duplicate")
        async with AsyncClient(URL, "admin", PASSWORD) as staff:
            pages = staff.each(list_prealerts, search="PY-ASYNC-", limit=2)
            self.assertEqual(len({record.prealert_id async for record in pages}), 5)
            events = [event.sequence async for event in staff.events(courier_id=COURIER_ID, limit=3)]
            self.assertEqual(events, list(range(1, len(events) + 1)))
            await staff.send(manage_sessions(body=LogOutAction("logout")))
            calls = (staff.send(list_prealerts(limit=1)) for _ in range(3))
            self.assertEqual(len(await asyncio.gather(*calls)), 3)
            file = BytesIO()
            await staff.download(export_packages_csv(limit=1), file)
            self.assertEqual(len(file.getvalue().splitlines()), 2)
            upload = BytesIO(b"user_code,first_name,last_name\nPY-U9,Ann,Lee\n")
            checked = await staff.upload_customers(upload, courier_id=COURIER_ID, dry_run=True)
            self.assertEqual(checked.created, 1)


class NetworkTest(unittest.TestCase):
    def client(self, failure: str, options: Options = Options()) -> KeyClient:
        return self.enterContext(KeyClient(f"{FAILING_URL}/{failure}", API_KEY, options))

    def test_a_lost_response_and_503_are_retried_with_the_same_key(self) -> None:
        self.assertTrue(str(self.client("two-failures").submit(prealert("PY-R1")).prealert_id).endswith("a03"))

    def test_the_hook_gets_each_attempt_without_secrets_and_cannot_break_a_call(self) -> None:
        seen: list[Attempt] = []

        def hook(attempt: Attempt) -> None:
            seen.append(attempt)
            raise RuntimeError("A log that fails.")

        self.client("hooked", Options(on_attempt=hook)).submit(prealert("PY-HOOK"))
        self.assertEqual(
            [(each.operation, each.number, each.status) for each in seen],
            [
                ("submitPrealert", 1, None),
                ("submitPrealert", 2, 503),
                ("submitPrealert", 3, 201),
            ],
        )
        self.assertTrue(all(each.duration > 0 for each in seen))
        self.assertNotIn(API_KEY, repr(seen))
        self.assertNotIn("PY-HOOK", repr(seen))

    def test_a_long_retry_after_is_not_waited_for(self) -> None:
        with self.assertRaises(RateLimitError) as caught:
            self.client("one-hour").submit(prealert("PY-R2"))
        self.assertEqual(caught.exception.retry_after, 3600)

    def test_the_page_of_a_proxy_is_a_server_error(self) -> None:
        with self.assertRaises(ServerError) as caught:
            self.client("html", ONCE).submit(prealert("PY-R3"))
        self.assertEqual((caught.exception.status, caught.exception.code), (502, ""))

    def test_an_error_of_a_batch_has_the_results_before_it(self) -> None:
        many = [prealert(f"PY-PART-{number}") for number in range(400)]
        with self.assertRaises(ForbiddenError) as caught:
            self.client("second-batch").submit_many(many)
        self.assertEqual([result.line for result in caught.exception.results], list(range(1, 251)))
        self.assertTrue(str(caught.exception.results[0].prealert_id).endswith("a03"))

    def test_a_batch_that_was_cut_on_the_way_is_an_error(self) -> None:
        many = [prealert(f"PY-CUT-{number}") for number in range(4)]
        with self.assertRaises(IncompleteBatchError) as caught:
            self.client("cut-request").submit_many(many)
        self.assertEqual([result.line for result in caught.exception.results], [1, 2])
        with self.assertRaises(IncompleteBatchError):
            self.client("cut-request").submit_all_or_none(many)

    def test_a_missing_credential_is_a_clear_error(self) -> None:
        missing: Any
        for missing in (None, ""):
            for create in (
                lambda: KeyClient(URL, missing),  # noqa: B023
                lambda: Client(URL, missing, PASSWORD),  # noqa: B023
                lambda: Client(URL, "iex", missing),  # noqa: B023
                lambda: verify_webhook(b"{}", {}, missing),  # noqa: B023
            ):
                with self.assertRaisesRegex(ValueError, "Check the environment variable"):
                    create()

    def test_silence_is_no_response(self) -> None:
        with self.assertRaises(NoResponseError):
            self.client("silence", Options(timeout=0.2, max_retries=1)).submit(prealert("PY-R4"))

    def test_a_broken_download_starts_again_without_a_trace(self) -> None:
        with Client(f"{FAILING_URL}/broken-file", "iex", PASSWORD) as client:
            client._token = "any"
            file = BytesIO()
            client.download(export_packages_csv(), file)
        self.assertEqual(file.getvalue(), b"the whole file")

    def test_only_https_is_accepted_except_on_this_machine(self) -> None:
        for wrong in ("http://demo.crossdock.example", "demo.crossdock.example", "http://localhost.evil.example"):
            with self.assertRaises(ValueError):
                KeyClient(wrong, "key")
        for right in ("https://demo.crossdock.example/", "http://two.localhost:3000", "http://[::1]:3000"):
            KeyClient(right, "key").close()

    def test_every_error_of_the_service_is_an_api_error(self) -> None:
        self.assertTrue(issubclass(DuplicateError, ApiError))


class WebhookTest(unittest.TestCase):
    SECRET = "whsec_" + base64.b64encode(b"a secret of the courier").decode()
    BODY = (
        '{"type":"webhook.test","event_id":"id-1","sequence":null,"timestamp":"2026-11-21 15:10:00",'
        '"data":{"message":"Café"},"new_field":1}'
    ).encode()

    def test_a_webhook_is_accepted_with_the_right_signature_only(self) -> None:
        event = verify_webhook(self.BODY, signed(self.BODY, self.SECRET), self.SECRET)
        self.assertEqual((event.type, event.sequence, event.data["message"]), ("webhook.test", None, "Café"))
        verify_webhook(self.BODY.decode(), signed(self.BODY, self.SECRET, before="v1,AAAA v2,B é "), self.SECRET)
        verify_payload(self.BODY, signed(self.BODY, self.SECRET, time.time() - 301), self.SECRET, tolerance=400)
        other = "whsec_" + base64.b64encode(b"another secret").decode()
        refused = [
            (self.BODY + b" ", signed(self.BODY, self.SECRET), self.SECRET),
            (self.BODY, signed(self.BODY, self.SECRET), other),
            (self.BODY, signed(self.BODY, self.SECRET, time.time() - 302), self.SECRET),
            (self.BODY, signed(self.BODY, self.SECRET, time.time() + 302), self.SECRET),
            (self.BODY, signed(self.BODY, self.SECRET) | {"Webhook-Signature": ""}, self.SECRET),
            (self.BODY, {}, self.SECRET),
        ]
        for body, headers, secret in refused:
            with self.assertRaises(WebhookError):
                verify_payload(body, headers, secret)
        with self.assertRaises(ValueError):
            verify_payload(self.BODY, signed(self.BODY, self.SECRET), "secret")


if __name__ == "__main__":
    unittest.main()
