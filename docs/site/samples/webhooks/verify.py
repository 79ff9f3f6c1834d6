import base64
import hashlib
import hmac
import time


def is_from_crossdock(secret: str, headers, body: bytes) -> bool:
    """Return whether a webhook came from Crossdock. body is the request's body as received."""
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False
    # A setting that is missing or damaged must not become an empty key, with which anyone can sign.
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        return False
    if not key:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    signatures = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected, each.encode()) for each in signatures)
