"""Client of the Crossdock API: pre-alerts, packages, customers, manifests, events and webhooks."""

from ._async import AsyncClient, AsyncKeyClient
from ._core.models import ExistingPrealert, PrealertSubmission
from ._sync import Client, KeyClient
from .attempt import Attempt
from .batch import BatchResult
from .call import Call
from .errors import (
    ApiError,
    AuthenticationError,
    ConflictError,
    CrossdockError,
    CursorAheadError,
    DuplicateError,
    ForbiddenError,
    IncompleteBatchError,
    InvalidRequestError,
    NoResponseError,
    NotFoundError,
    RateLimitError,
    SecondFactorRequiredError,
    ServerError,
    WebhookError,
)
from .options import Options
from .submission import Submission
from .times import format_time, parse_time
from .webhook import Event, verify_payload, verify_webhook

__all__ = [
    "ApiError",
    "AsyncClient",
    "AsyncKeyClient",
    "Attempt",
    "AuthenticationError",
    "BatchResult",
    "Call",
    "Client",
    "ConflictError",
    "CrossdockError",
    "CursorAheadError",
    "DuplicateError",
    "Event",
    "ExistingPrealert",
    "ForbiddenError",
    "IncompleteBatchError",
    "InvalidRequestError",
    "KeyClient",
    "NoResponseError",
    "NotFoundError",
    "Options",
    "PrealertSubmission",
    "RateLimitError",
    "SecondFactorRequiredError",
    "ServerError",
    "Submission",
    "WebhookError",
    "format_time",
    "parse_time",
    "verify_payload",
    "verify_webhook",
]
