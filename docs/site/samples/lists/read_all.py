import json
import urllib.parse
import urllib.request


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would hand the token to another host. It raises HTTPError."""

    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirect)


def read_all(host: str, token: str, limit: int = 500) -> list[dict]:
    """Return every pre-alert that is more than a minute old, each once, as it was when its page was read."""

    def read(page: int) -> dict:
        # No filter on the status: it would skip records whose status changes in the meantime.
        query = {"sort_by": "created_at", "sort_dir": "ASC", "limit": limit, "page": page}
        request = urllib.request.Request(
            f"{host}/api/ManagePrealerts.php?{urllib.parse.urlencode(query)}",
            headers={"Authorization": f"Bearer {token}"},
        )
        with opener.open(request, timeout=30) as response:
            return json.load(response)

    found = {}
    # From the last page to the first: a record that is deleted moves only others that were read already.
    for page in range(read(1)["meta"]["total_pages"], 0, -1):
        for record in read(page)["data"]:
            found.setdefault(record["prealert_id"], record)
    return list(found.values())
