"""The twelve steps of `npm run sdk:test`. Prints one line of JSON per step."""

import json
import os
from collections.abc import Callable
from io import BytesIO
from typing import Any
from uuid import UUID

from crossdock import Client, DuplicateError, KeyClient, PrealertSubmission, WebhookError, verify_payload
from crossdock.api import (
    create_manifest,
    export_packages_xlsx,
    get_courier_rates,
    get_manifest,
    list_packages,
    list_prealerts,
    manage_courier_rates,
    manage_manifest,
    receive_package,
    update_courier_settings,
    upload_logo,
)
from crossdock.models import (
    AddManifestPackagesAction,
    CourierSettingsUpdate,
    File,
    LogoUpload,
    ManifestCreation,
    PackageIntake,
    PackageSearch,
    RateTierInput,
    SaveRatesAction,
    UpdateManifestAction,
)

RUN = os.environ["CROSSDOCK_RUN_ID"]
URL = os.environ["CROSSDOCK_URL"]
API_KEY = os.environ["CROSSDOCK_API_KEY"]
USER_CODE = os.environ["CROSSDOCK_USER_CODE"]
PASSWORD = os.environ["CROSSDOCK_PASSWORD"]
COURIER_ID = UUID(os.environ["CROSSDOCK_COURIER_ID"])

Report = dict[str, Any]

partner = KeyClient(URL, API_KEY)
staff = Client(URL, os.environ["CROSSDOCK_STAFF_USERNAME"], PASSWORD)
courier = Client(URL, os.environ["CROSSDOCK_COURIER_USERNAME"], PASSWORD)
received: list[UUID] = []


def prealert(number: int) -> PrealertSubmission:
    return PrealertSubmission(user_code=USER_CODE, tracking_number=f"{RUN}-{number}")


def submit() -> Report:
    return {"prealert_ids": [str(partner.submit(prealert(number)).prealert_id) for number in (1, 2, 3)]}


def duplicate() -> Report:
    try:
        partner.submit(prealert(1))
    except DuplicateError as error:
        return {"code": error.code, "status": error.status, "request_id": error.request_id}
    raise AssertionError("The duplicate was accepted.")


def log_in() -> Report:
    return {"staff_role": staff.log_in().role, "courier_role": courier.log_in().role}


def list_with_stats() -> Report:
    meta = staff.send(list_prealerts(search=f"{RUN}-", limit=1)).meta
    records = staff.each(list_prealerts, search=f"{RUN}-", limit=1)
    return {
        "tracking_numbers": [record.tracking_number for record in records],
        "total": meta.stats.total,
        "pages": meta.total_pages,
    }


def receive() -> Report:
    intake = PackageIntake(tracking_number=f"{RUN}-1", weight=3.25)
    received.append(staff.send(receive_package(body=intake)).data.package_id)
    return {"package_id": str(received[0])}


def manifest() -> Report:
    manifest_id = staff.send(create_manifest(body=ManifestCreation())).data.manifest_id
    add = AddManifestPackagesAction(action="add_packages", manifest_id=manifest_id, package_ids=received)
    staff.send(manage_manifest(body=add))
    staff.send(manage_manifest(body=UpdateManifestAction("update_meta", manifest_id, status="ready")))
    staff.send(manage_manifest(body=UpdateManifestAction("update_meta", manifest_id, status="shipped")))
    info = staff.send(get_manifest(id=manifest_id)).data.info
    return {"manifest_id": str(manifest_id), "status": info.status}


def upload() -> Report:
    path = os.environ["CROSSDOCK_CUSTOMERS_CSV"]
    with open(path, "rb") as file:
        dry_run = staff.upload_customers(file, courier_id=COURIER_ID, dry_run=True)
    stored = staff.upload_customers(path, courier_id=COURIER_ID)
    return {"dry_run_created": dry_run.created, "created": stored.created}


def packages() -> Report:
    file = BytesIO()
    staff.download(export_packages_xlsx(tracking_number=f"{RUN}-"), file)
    meta = staff.send(list_packages(body=PackageSearch(tracking_number=f"{RUN}-"))).meta
    content = file.getvalue()
    return {
        "file_start": content[:2].decode("ascii"),
        "file_bytes": len(content),
        "total": meta.total_count,
        "total_weight": meta.total_weight,
    }


def rates() -> Report:
    staff.send(get_courier_rates(courier_id=COURIER_ID))
    tiers = [
        RateTierInput(startweight=0, endweight=5, fee=12.75),
        RateTierInput(startweight=5.001, endweight=99999.999, fee=16777217.01),
    ]
    staff.send(manage_courier_rates(body=SaveRatesAction("save_rates", tiers, courier_id=COURIER_ID)))
    stored = staff.send(get_courier_rates(courier_id=COURIER_ID)).data.courier
    assert stored, "The rates name no courier."
    return {
        "fees": [tier.fee for tier in stored.specific_rates],
        "uses_global_rates": stored.uses_global_rates,
    }


def settings() -> Report:
    saved = courier.send(update_courier_settings(body=CourierSettingsUpdate(address2=RUN))).data
    with open(os.environ["CROSSDOCK_LOGO_PNG"], "rb") as logo:
        body = LogoUpload(logo=File(payload=logo, file_name="logo.png", mime_type="image/png"))
        stored = courier.send(upload_logo(body=body)).data
    return {"address2": saved.address2, "logo_path": stored.path}


def events() -> Report:
    found = list(courier.events(after=0, limit=50))
    with open(os.environ["CROSSDOCK_WEBHOOKS_JSON"], encoding="utf-8") as file:
        samples = json.load(file)
    return {
        "events": len(found),
        "last_sequence": found[-1].sequence,
        "valid": is_valid(samples["valid"], samples["secret"]),
        "tampered": is_valid(samples["tampered"], samples["secret"]),
    }


def is_valid(sample: dict[str, Any], secret: str) -> bool:
    try:
        verify_payload(sample["body"], sample["headers"], secret)
        return True
    except WebhookError:
        return False


def retry() -> Report:
    with KeyClient(os.environ["CROSSDOCK_FAULTY_URL"], API_KEY) as faulty:
        return {"prealert_id": str(faulty.submit(prealert(12)).prealert_id)}


STEPS: list[Callable[[], Report]] = [
    submit,
    duplicate,
    log_in,
    list_with_stats,
    receive,
    manifest,
    upload,
    packages,
    rates,
    settings,
    events,
    retry,
]

for number, step in enumerate(STEPS, start=1):
    try:
        report = {"ok": True, **step()}
    except Exception as error:  # a failed step must not end the program
        report = {"ok": False, "error": f"{type(error).__name__}: {error}"}
    print(json.dumps({"step": number, **report}, separators=(",", ":")))
