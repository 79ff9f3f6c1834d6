"""The records, and the bodies of requests. They are generated from the contract."""

from ._core.models import *  # noqa: F403
from ._core.types import UNSET as UNSET
from ._core.types import File as File
from ._core.types import Unset as Unset
