"""Settings of a client."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass

from ._core import retries as table
from ._core.operations import PAGE_SIZE
from .attempt import Attempt

MAX_BATCH_LINES = 1_000


@dataclass(frozen=True)
class Options:
    """Settings of a client. Every setting has a default."""

    timeout: float = table.ATTEMPT_SECONDS
    """Seconds until an attempt is given up. For files: seconds without any progress."""

    connect_timeout: float = table.CONNECT_SECONDS
    """Seconds until an attempt to connect is given up."""

    max_retries: int = table.MAX_RETRIES
    """How often a failed request is sent again. 0 sends each request once."""

    max_retry_wait: float = table.LONGEST_RETRY_AFTER_SECONDS
    """The longest `Retry-After` that is waited for, in seconds. If it is longer, the call fails at once."""

    verify: bool | ssl.SSLContext = True
    """The trusted certificates, if the system's are not sufficient."""

    proxy: str | None = None
    """URL of an HTTP proxy."""

    last_attempt: float = table.LAST_ATTEMPT_SECONDS
    """No attempt begins later than these seconds after the first."""

    batch_lines: int = table.BATCH_LINES
    """Pre-alerts per request of submit_many() and submit_each(), 1 to 1,000.

    A request must arrive within 10 seconds, so a slow line needs fewer. After 408 the batch is halved, and the
    following ones too.
    """

    page_size: int = PAGE_SIZE
    """Records per page when a list is read over all pages, and the call sets no `limit`.

    At most what the operation allows.
    """

    on_attempt: Callable[[Attempt], None] | None = None
    """Called after each attempt of a call, for logs and metrics. What it raises is ignored."""

    def __post_init__(self) -> None:
        if not 1 <= self.batch_lines <= MAX_BATCH_LINES:
            raise ValueError("batch_lines must be 1 to 1,000.")
        if self.page_size < 1:
            raise ValueError("page_size must be 1 or more.")
