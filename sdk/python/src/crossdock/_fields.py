"""Bodies that a program gives as dicts."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from ._core.fields import FIELDS
from .times import format_time


def fields_of(body: Mapping[str, Any], operation: str) -> dict[str, Any]:
    """Returns the fields of a body with the names of the API, as JSON accepts them.

    A name can be that of the API (`UserCode`) or that of the class (`user_code`). A misspelt one raises a ValueError,
    because the service ignores what it does not know.
    """
    known = FIELDS[operation]
    unknown = [name for name in body if name not in known and name not in known.values()]
    if unknown:
        names = ", ".join(known.values())
        raise ValueError(f"{operation} has no field {', '.join(unknown)}. It has: {names}.")
    return {known.get(name, name): _json(value) for name, value in body.items()}


def _json(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return format_time(value)
    if isinstance(value, (datetime.date, UUID)):
        return str(value)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: _json(each) for name, each in value.items()}
    return [_json(each) for each in value] if isinstance(value, (list, tuple)) else value
