"""The value that an operation of crossdock.api returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import httpx

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Call(Generic[T_co]):
    """A request that is not sent yet, and how to read its response. Pass it to a client."""

    request: dict[str, Any]
    """Arguments of httpx.Client.build_request()."""

    parse: Callable[[httpx.Response], T_co]
