"""Settings of a client."""

from __future__ import annotations

import ssl
from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """Settings of a client. Every setting has a default."""

    timeout: float = 30.0
    """Seconds without any progress until an attempt is given up."""

    connect_timeout: float = 10.0
    """Seconds until an attempt to connect is given up."""

    max_retries: int = 4
    """How often a failed request is sent again. 0 sends each request once."""

    max_retry_wait: float = 60.0
    """The longest wait before a retry, in seconds. If `Retry-After` is longer, the call fails at once."""

    verify: bool | ssl.SSLContext = True
    """The trusted certificates, if the system's are not sufficient."""

    proxy: str | None = None
    """URL of an HTTP proxy."""
