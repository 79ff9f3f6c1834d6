"""The result of a submitted pre-alert."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from ._core.models import PrealertWarning, SubmittedPrealert


@dataclass(frozen=True)
class Submission:
    """A pre-alert that was stored. As a text it is its `prealert_id`."""

    prealert_id: UUID

    warnings: list[PrealertWarning] = field(default_factory=list)
    """What was stored although it may be wrong, with `code` and `message`. Show the messages to a person."""

    def __str__(self) -> str:
        return str(self.prealert_id)

    @classmethod
    def of(cls, data: SubmittedPrealert) -> Submission:
        return cls(data.prealert_id, data.warnings or [])


def warnings_of(body: Mapping[str, Any]) -> list[PrealertWarning]:
    """Returns the warnings of a line of a batch."""
    return [PrealertWarning.from_dict(each) for each in body.get("warnings", [])]
