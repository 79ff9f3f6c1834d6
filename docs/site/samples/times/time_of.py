from datetime import datetime, timezone


def time_of(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)
