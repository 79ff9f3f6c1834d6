"""Verifies webhooks according to Standard Webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from ._core.events import TypedEvent, typed_event
from .credential import required
from .errors import WebhookError
from .times import parse_time


@dataclass(frozen=True)
class Event:
    """A change to a package, pre-alert, bill or flight of the courier, from a webhook or from the list of events."""

    type: str
    """For example `package.created` or `prealert.received`, or a type that is newer than this library."""

    event_id: str
    """The same when the event is sent again. Ignore an event_id that you have already processed."""

    sequence: int | None
    """Number of the event among all events of the courier. A URL gets only its types, so there it has gaps. None for
    `webhook.test`."""

    timestamp: str
    """When it happened, in UTC, `YYYY-MM-DD HH:MM:SS`."""

    data: dict[str, Any]
    """The package, pre-alert, bill or flight, as the reference describes it for the type."""

    @property
    def time(self) -> datetime:
        """When it happened."""
        return parse_time(self.timestamp)

    @property
    def timestamp_utc(self) -> str:
        """The same as RFC 3339 writes it, `YYYY-MM-DDTHH:MM:SSZ`."""
        return f"{self.timestamp.replace(' ', 'T')}Z"

    @property
    def typed(self) -> TypedEvent | None:
        """The event as the class of its type, with its record in `data`. None for a type that this version lacks.

        if isinstance(event.typed, PackageCreatedEvent): print(event.typed.data.weight)
        """
        return typed_event(self.type, {**asdict(self), "timestamp_utc": self.timestamp_utc})

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Event:
        return cls(body["type"], body["event_id"], body["sequence"], body["timestamp"], body["data"])


def verify_webhook(body: bytes | str, headers: Mapping[str, str], secret: str, tolerance: int = 300) -> Event:
    """Verifies a request and returns its event.

    `body` is the body exactly as received. `secret` is `webhook_secret` of the courier's settings. `tolerance` is how
    many seconds the request may be old. Raises WebhookError.
    """
    return Event.from_dict(verify_payload(body, headers, secret, tolerance))


def verify_payload(body: bytes | str, headers: Mapping[str, str], secret: str, tolerance: int = 300) -> dict[str, Any]:
    """Verifies a request and returns its decoded body. Use it for the package format `flat`."""
    key = _key(secret)
    values = {name.lower(): value for name, value in headers.items()}
    webhook_id, timestamp = values.get("webhook-id", ""), values.get("webhook-timestamp", "")
    signatures = values.get("webhook-signature", "")
    if not webhook_id or not signatures or not (timestamp.isascii() and timestamp.isdecimal()):
        raise WebhookError("The request has no webhook-id, webhook-timestamp or webhook-signature.")
    if abs(time.time() - int(timestamp)) > tolerance:
        raise WebhookError("The webhook is too old, or the clock of this server is wrong.")
    content = body.encode() if isinstance(body, str) else body
    signed = f"{webhook_id}.{timestamp}.".encode() + content
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    # For a day after a rotation of the secret there are two signatures. One of them is of the secret that you have.
    matches = [hmac.compare_digest(expected, each.encode()) for each in signatures.split(" ")]
    if not any(matches):
        raise WebhookError("No signature of the webhook matches. Check the secret.")
    payload = json.loads(content)
    if not isinstance(payload, dict):
        raise WebhookError("The body of the webhook is not a JSON object.")
    return payload


def _key(secret: str) -> bytes:
    required("webhook secret", secret)
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        key = b""
    if not secret.startswith("whsec_") or not key:
        raise ValueError("The secret must begin with whsec_. Copy it from the settings.")
    return key
