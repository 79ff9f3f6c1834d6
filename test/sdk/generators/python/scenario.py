import json
from pathlib import Path

import client
from client import models
from steps import env, run_steps

RUN = env("RUN_ID")
COURIER_ID = env("COURIER_ID")


def connect(**credentials):
    return client.ApiClient(client.Configuration(host=env("URL"), **credentials))


courier_system = connect(api_key={"apiKeyHeader": env("API_KEY")})
clients = {}
seen = {}


def submit_one(number):
    submission = models.PrealertSubmission(UserCode=env("USER_CODE"), TrackingNumber=number)
    return client.PrealertsApi(courier_system).submit_prealert(submission).data.prealert_id


def submit():
    return {"prealert_ids": [submit_one(f"{RUN}-{number}") for number in (1, 2, 3)]}


def submit_again():
    try:
        submit_one(f"{RUN}-1")
    except client.ApiException as error:
        failure = error.data
        return {"code": failure.code, "status": error.status, "request_id": failure.request_id}
    raise AssertionError("The duplicate was accepted.")


def log_in_as(name):
    action = models.PasswordLoginAction(action="login", username=env(name), password=env("PASSWORD"))
    result = client.LoginApi(connect()).login(models.LoginAction(action))
    grant = result.actual_instance.data
    clients[name] = connect(access_token=grant.access_token)
    return grant.user.role


def log_in():
    return {"staff_role": log_in_as("STAFF_USERNAME"), "courier_role": log_in_as("COURIER_USERNAME")}


def staff(api):
    return api(clients["STAFF_USERNAME"])


def list_prealerts():
    numbers, page = [], 1
    while True:
        result = staff(client.PrealertsApi).list_prealerts(search=f"{RUN}-", limit=1, page=page)
        numbers += [prealert.tracking_number for prealert in result.data]
        meta = result.meta
        if page >= meta.total_pages:
            return {"tracking_numbers": numbers, "total": meta.stats.total, "pages": meta.total_pages}
        page += 1


def receive():
    intake = models.PackageIntake(tracking_number=f"{RUN}-1", weight=3.25)
    seen["package"] = staff(client.PackagesApi).receive_package(intake).data.package_id
    return {"package_id": seen["package"]}


def manage(action):
    return staff(client.ManifestsApi).manage_manifest(models.ManifestAction(action)).data


def ship():
    manifest = manage(models.CreateManifestAction(action="create_manifest")).manifest_id
    packages = [str(seen["package"])]
    manage(models.AddManifestPackagesAction(action="add_packages", manifest_id=manifest, package_ids=packages))
    for status in ("ready", "shipped"):
        manage(models.UpdateManifestAction(action="update_meta", manifest_id=manifest, status=status))
    result = staff(client.ManifestsApi).get_manifest(id=manifest)
    return {"manifest_id": manifest, "status": result.data.info.status}


def upload(dry_run):
    file = ("customers.csv", Path(env("CUSTOMERS_CSV")).read_bytes())
    api = staff(client.CustomersApi)
    return api.upload_customers(file=file, target_courier_id=COURIER_ID, dry_run=dry_run).data.created


def upload_customers():
    return {"dry_run_created": upload(True), "created": upload(False)}


def read_packages():
    api = staff(client.PackagesApi)
    file = api.export_packages_xlsx(tracking_number=f"{RUN}-")
    result = api.list_packages(package_search=models.PackageSearch(trackingNumber=f"{RUN}-"))
    meta = result.meta
    return {
        "file_start": bytes(file[:2]).decode("ascii"),
        "file_bytes": len(file),
        "total": meta.total_count,
        "total_weight": meta.total_weight,
    }


def save_rates():
    rates = [
        models.RateTierInput(startweight=0, endweight=5, fee=12.75),
        models.RateTierInput(startweight=5.001, endweight=99999.999, fee=16777217.01),
    ]
    action = models.SaveRatesAction(action="save_rates", courier_id=COURIER_ID, rates=rates)
    api = staff(client.RatesApi)
    api.manage_courier_rates(models.RateAction(action))
    courier = api.get_courier_rates(courier_id=COURIER_ID).data.courier
    return {"fees": [tier.fee for tier in courier.specific_rates], "uses_global_rates": courier.uses_global_rates}


def change_settings():
    api = client.CouriersApi(clients["COURIER_USERNAME"])
    settings = api.update_courier_settings(models.CourierSettingsUpdate(address2=RUN))
    logo = api.upload_logo(logo=("logo.png", Path(env("LOGO_PNG")).read_bytes()))
    return {"address2": settings.data.address2, "logo_path": logo.data.path}


def read_webhook():
    body = json.loads(Path(env("WEBHOOKS_JSON")).read_text())["valid"]["body"]
    event = models.PackageCreatedEvent.from_json(body)
    return {"type": event.type, "tracking_number": event.data.tracking_number, "sequence": event.sequence}


run_steps(
    [
        submit,
        submit_again,
        log_in,
        list_prealerts,
        receive,
        ship,
        upload_customers,
        read_packages,
        save_rates,
        change_settings,
        read_webhook,
    ]
)
