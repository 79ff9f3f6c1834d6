"""All operations of the contract. Each returns a Call: pass it to send(), each() or download() of a client.

Each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from ._core import api as _api
from .call import Call

if TYPE_CHECKING:
    from ._core.api import *  # noqa: F403
else:
    __all__ = [*_api.__all__, "list_branches"]

    def __getattr__(name: str) -> Any:
        if name not in _api.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(_api, name)

    def __dir__() -> list[str]:
        return sorted(__all__)


def list_branches(courier_id: UUID | None = None) -> Call[list[str]]:
    """Returns the names of the branches of the customers, of one courier or of all."""
    params = {"action": "branches", **({"courier_id": str(courier_id)} if courier_id else {})}
    extensions = {"crossdock_operation": "listCustomers"}
    request = {"method": "GET", "url": "/api/ManageCustomers.php", "params": params, "extensions": extensions}
    return Call(request, lambda response: list(response.json()["data"]))
