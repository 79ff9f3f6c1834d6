"""The steps of sdk-tools/packed/steps.ts, in a project that has the SDK from its packed file."""

import json
import os
from typing import Any

from crossdock import Attempt, Client, KeyClient, Options, WebhookError, verify_webhook
from crossdock.models import PackageCreatedEvent


def env(name: str) -> str:
    return os.environ[f"CROSSDOCK_{name}"]


RUN = env("RUN_ID")
attempts: list[Attempt] = []


def submit(client: KeyClient, user_code: str, number: int) -> dict[str, Any]:
    with client:
        id = client.prealerts.submit(user_code=user_code, tracking_number=f"{RUN}-{number}").prealert_id
        return {"prealert_id": str(id)}


def live(url: str, options: Options = Options()) -> KeyClient:
    return KeyClient(url, env("API_KEY"), options)


def list_pages() -> dict[str, Any]:
    with Client(env("URL"), env("STAFF_USERNAME"), env("PASSWORD"), options=Options(page_size=1)) as staff:
        found = list(staff.prealerts.list(search=f"{RUN}-"))
    numbers = [prealert.tracking_number for prealert in found]
    return {"tracking_numbers": numbers, "newest": int(found[0].created_at.timestamp())}


def verify() -> dict[str, Any]:
    with open(env("WEBHOOKS_JSON"), encoding="utf-8") as file:
        samples = json.load(file)
    event = verify_webhook(samples["valid"]["body"], samples["valid"]["headers"], samples["secret"]).typed
    try:
        verify_webhook(samples["tampered"]["body"], samples["tampered"]["headers"], samples["secret"])
        is_tampered = True
    except WebhookError:
        is_tampered = False
    seen = [
        {"operation": a.operation, "attempt": a.number, "status": a.status, "request_id": a.request_id or ""}
        for a in attempts
    ]
    number = event.data.tracking_number if isinstance(event, PackageCreatedEvent) else None
    return {"tracking_number": number, "tampered": is_tampered, "attempts": seen}


steps = [
    lambda: submit(live(env("URL")), env("USER_CODE"), 1),
    lambda: submit(live(env("FAULTY_URL"), Options(on_attempt=attempts.append)), env("USER_CODE"), 2),
    list_pages,
    verify,
    lambda: submit(KeyClient(env("SANDBOX_URL"), env("SANDBOX_KEY")), env("SANDBOX_USER_CODE"), 3),
]
for index, step in enumerate(steps):
    report: dict[str, Any]
    try:
        report = {"ok": True, **step()}
    except Exception as error:
        report = {"ok": False, "error": repr(error)}
    print(json.dumps({"step": index + 1, **report}))
