"""The calls of test/sdk/faults.test.ts, all at the same time. Prints one line of JSON for each."""

import asyncio
import json
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

from crossdock import ApiError, AsyncClient, AsyncKeyClient, Client, KeyClient, NoResponseError, Options
from crossdock.api import delete_prealert, export_packages_csv, list_prealerts
from crossdock.models import PrealertDeletion

CALLS = json.loads(os.environ["CROSSDOCK_CALLS"])
API_KEY = os.environ["CROSSDOCK_API_KEY"]
ACCOUNT = (os.environ["CROSSDOCK_USERNAME"], os.environ["CROSSDOCK_PASSWORD"])


def options_of(call):
    names = {"max_retries": "max_retries", "timeout": "timeout_seconds", "last_attempt": "last_attempt_seconds"}
    return Options(**{name: call[given] for name, given in names.items() if given in call})


def prealert_of(call):
    return {"UserCode": "IEX-1001", "TrackingNumber": call["tracking_number"]}


def batch_of(call):
    return [{"UserCode": "IEX-1001", "TrackingNumber": f"{call['tracking_number']}-{n}"} for n in range(300)]


def created_of(results):
    is_counted = [result.line for result in results] == list(range(1, 301))
    return sum(result.status == "created" for result in results) if is_counted else "wrong lines"


DELETION = delete_prealert(body=PrealertDeletion(prealert_id=UUID(int=0)))


def act(call):
    if call["action"] == "submit":
        with KeyClient(call["url"], API_KEY, options_of(call)) as partner:
            return str(partner.submit(prealert_of(call)).prealert_id)
    if call["action"] == "batch":
        with KeyClient(call["url"], API_KEY, options_of(call)) as partner:
            return created_of(partner.submit_many(batch_of(call)))
    with Client(call["url"], *ACCOUNT, options=options_of(call)) as client:
        if call["action"] == "login":
            return client.log_in().role
        if call["action"] == "read":
            return len(client.send(list_prealerts(limit=1)).data)
        if call["action"] == "delete":
            return str(client.send(DELETION))
        with tempfile.TemporaryDirectory() as folder:
            client.download(export_packages_csv(), f"{folder}/packages.csv")
            return os.path.getsize(f"{folder}/packages.csv") > 0


async def act_async(call):
    if call["action"] == "submit":
        async with AsyncKeyClient(call["url"], API_KEY, options_of(call)) as partner:
            return str((await partner.submit(prealert_of(call))).prealert_id)
    if call["action"] == "batch":
        async with AsyncKeyClient(call["url"], API_KEY, options_of(call)) as partner:
            return created_of(await partner.submit_many(batch_of(call)))
    async with AsyncClient(call["url"], *ACCOUNT, options=options_of(call)) as client:
        if call["action"] == "login":
            return (await client.log_in()).role
        if call["action"] == "read":
            return len((await client.send(list_prealerts(limit=1))).data)
        if call["action"] == "delete":
            return str(await client.send(DELETION))
        with tempfile.TemporaryDirectory() as folder:
            await client.download(export_packages_csv(), f"{folder}/packages.csv")
            return os.path.getsize(f"{folder}/packages.csv") > 0


def report(call, ended):
    print(json.dumps({"name": call["name"], **ended}), flush=True)


def describe(error):
    if isinstance(error, ApiError):
        return {"error": "refusal", "status": error.status}
    if isinstance(error, NoResponseError):
        return {"error": "timeout" if error.is_timeout else "no response"}
    return {"error": f"foreign: {error!r}"}


def run(call):
    try:
        return call, {"value": act(call)}
    except Exception as error:
        return call, describe(error)


async def run_async(call):
    try:
        return call, {"value": await act_async(call)}
    except Exception as error:
        return call, describe(error)


async def run_all():
    return await asyncio.gather(*(run_async(call) for call in CALLS))


if "CROSSDOCK_ASYNCIO" in os.environ:
    results = asyncio.run(run_all())
else:
    with ThreadPoolExecutor(len(CALLS)) as threads:
        results = list(threads.map(run, CALLS))
for call, ended in results:
    report(call, ended)
