"""The results of many pre-alerts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from ._core.models import ExistingPrealert, PrealertWarning
from .submission import warnings_of


@dataclass(frozen=True)
class BatchResult:
    """The result of one pre-alert of many."""

    line: int
    """The position of the pre-alert. The first is 1."""

    status: str
    """`created`, `duplicate`, `unknown_customer`, `invalid`, or a newer one."""

    message: str
    """Text for people."""

    prealert_id: UUID | None = None
    """Only if it was created."""

    code: str | None = None
    """The code of a single call. Only if it was not created."""

    errors: list[dict[str, Any]] = field(default_factory=list)
    """The wrong fields, as of a single call."""

    existing: ExistingPrealert | None = None
    """The stored pre-alert of a duplicate. If its `differs` is true, it belongs to another customer."""

    warnings: list[PrealertWarning] = field(default_factory=list)
    """What was stored although it may be wrong, as of a single call."""

    @classmethod
    def from_dict(cls, body: Mapping[str, Any], before: int) -> BatchResult:
        """`before` is the number of pre-alerts in the requests before this one."""
        prealert_id = UUID(body["prealert_id"]) if "prealert_id" in body else None
        line, code, errors = before + body["line"], body.get("code"), body.get("errors", [])
        existing = ExistingPrealert.from_dict(body["existing"]) if "existing" in body else None
        warnings = warnings_of(body)
        return cls(line, body["status"], body["message"], prealert_id, code, errors, existing, warnings)
