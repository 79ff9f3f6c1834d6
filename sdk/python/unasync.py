"""Writes src/crossdock/_sync.py: the clients of _async.py, without asyncio."""

import re
from pathlib import Path

FOLDER = Path(__file__).parent / "src" / "crossdock"

REPLACEMENTS = [
    (r"with asyncio\. .* makes _sync\.py from this file\.", "without asyncio. Generated from _async.py. Do not edit."),
    (r"import asyncio\n", ""),
    (r"import shutil\n", "import shutil\nimport threading\n"),
    (r"_core\.async_resources", "_core.resources"),
    (r"AsyncIterator, Callable, Iterable\b", "Callable, Iterable, Iterator"),
    (r"\bAsyncIterator\b", "Iterator"),
    (r"\b(_?)Async((?:Key|Base)?(?:Client|Events|Resources|Prealerts))\b", r"\1\2"),
    (r"\basync (def|with|for)\b", r"\1"),
    (r"an `with`", "a `with`"),
    (r"\(await (self\.\w+\(.*\))\)\.data", r"\1.data"),
    (r"\bawait ", ""),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"\basyncio\.Lock\b", "threading.Lock"),
    (r"\b__a(enter|exit)__", r"__\1__"),
    (r"\.a(close|iter_bytes|iter_raw)\(", r".\1("),
    (r"Tasks that wait", "Threads that wait"),
]

text = (FOLDER / "_async.py").read_text()
for pattern, replacement in REPLACEMENTS:
    text, count = re.subn(pattern, replacement, text)
    if count == 0:
        raise SystemExit(f"_async.py has nothing that matches {pattern}")
(FOLDER / "_sync.py").write_text(text)
