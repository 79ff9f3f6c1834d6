"""Checks that a program has given its credential."""

from __future__ import annotations


def required(name: str, value: str | None) -> str:
    """Returns the value. os.environ.get() returns None if there is no such variable."""
    if not value:
        raise ValueError(f"The {name} is {value!r}. Check the environment variable or setting that it comes from.")
    return value


def header_of(key: str | None) -> dict[str, str]:
    """Returns the header of an API key, or of a service token. An API key has hexadecimal digits only."""
    value = required("API key", key)
    return {"Authorization": f"Bearer {value}"} if value.startswith("cdk_") else {"X-API-KEY": value}
