"""All operations of the contract. Each returns a Call: pass it to send(), each() or download() of a client."""

from __future__ import annotations

from uuid import UUID

from ._core.api import *  # noqa: F403
from .call import Call


def list_branches(courier_id: UUID | None = None) -> Call[list[str]]:
    """Returns the names of the branches of the customers, of one courier or of all."""
    params = {"action": "branches", **({"courier_id": str(courier_id)} if courier_id else {})}
    request = {"method": "GET", "url": "/api/ManageCustomers.php", "params": params}
    return Call(request, lambda response: list(response.json()["data"]))
