"""The records, and the bodies of requests. They are generated from the contract.

Each is imported when it is first used.
"""

from typing import TYPE_CHECKING, Any

from ._core import models as _models
from ._core.types import UNSET as UNSET
from ._core.types import File as File
from ._core.types import Unset as Unset

if TYPE_CHECKING:
    from ._core.models import *  # noqa: F403
else:
    __all__ = [*_models.__all__, "UNSET", "File", "Unset"]

    def __getattr__(name: str) -> Any:
        if name not in _models.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(_models, name)

    def __dir__() -> list[str]:
        return sorted(__all__)
