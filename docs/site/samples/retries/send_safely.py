import queue, random, threading, time
from email.utils import parsedate_to_datetime

import requests

REPEATED = (408, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 527, 530)


def send_safely(url, headers, body, key, limit=30):
    """Sends a POST request until the response is final, at most five times, and returns its status and its JSON.

    Create one key for each change that you intend, and store it with the change.
    """
    started_at = time.monotonic()
    for attempt in range(1, 6):
        response = attempt_once(url, {**headers, "Idempotency-Key": key}, body, limit)
        answer = json_of(response)
        # Every response of the service has a status in its JSON. Anything else is not whole, or comes from a proxy.
        is_open = (
            answer is None or response.status_code in REPEATED or answer.get("code") == "idempotency_in_progress"
        )
        if not is_open:
            return response.status_code, answer
        retry_after = seconds_of(response)
        pause = max(retry_after, 2 ** (attempt - 1) * random.uniform(0.5, 1))
        if attempt == 5 or retry_after > 60 or time.monotonic() - started_at + pause > 150:
            break
        time.sleep(pause)
    if answer is None:
        raise TimeoutError("No whole response. Send the same request with the same key again later.")
    return response.status_code, answer


def attempt_once(url, headers, body, limit):
    """Returns the whole response, or None. A thread, because the timeout of requests begins again with each byte."""
    result = queue.Queue()

    def post():
        try:
            # A redirect would hand the key to another host.
            result.put(requests.post(url, data=body, headers=headers, timeout=(10, limit), allow_redirects=False))
        except requests.RequestException:
            result.put(None)

    threading.Thread(target=post, daemon=True).start()
    try:
        return result.get(timeout=limit)
    except queue.Empty:
        return None


def json_of(response):
    try:
        answer = response.json()
        is_whole = isinstance(answer, dict) and answer.get("status") in ("success", "fail", "error")
        return answer if is_whole else None
    except (AttributeError, ValueError):
        return None


def seconds_of(response):
    """Retry-After is a number of seconds or a date."""
    value = response.headers.get("Retry-After", "0") if response is not None else "0"
    try:
        return float(value) if value.isdigit() else parsedate_to_datetime(value).timestamp() - time.time()
    except (TypeError, ValueError):
        return 0
