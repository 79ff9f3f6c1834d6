"""Checks that a program has given its credential."""

from __future__ import annotations


def required(name: str, value: str | None) -> str:
    """Returns the value. os.environ.get() returns None if there is no such variable."""
    if not value:
        raise ValueError(f"The {name} is {value!r}. Check the environment variable or setting that it comes from.")
    return value
