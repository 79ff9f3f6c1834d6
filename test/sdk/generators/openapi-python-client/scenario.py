import json
from io import BytesIO
from pathlib import Path

from client import AuthenticatedClient, Client, models, types
from client.api.couriers import update_courier_settings, upload_logo
from client.api.customers import upload_customers as upload_customers_api
from client.api.login import login
from client.api.manifests import get_manifest, manage_manifest
from client.api.packages import export_packages_xlsx, list_packages, receive_package
from client.api.prealerts import list_prealerts as list_prealerts_api
from client.api.prealerts import submit_prealert
from client.api.rates import get_courier_rates, manage_courier_rates
from steps import env, run_steps

RUN = env("RUN_ID")
COURIER_ID = env("COURIER_ID")

courier_system = AuthenticatedClient(
    base_url=env("URL"), token=env("API_KEY"), auth_header_name="X-API-KEY", prefix=""
)
clients = {}
seen = {}


def success_of(result):
    """Returns the result, unless it is a failure: the generated functions return both."""
    if result is None or isinstance(result, models.Failure):
        raise AssertionError(result)
    return result


def submit_one(number):
    body = models.PrealertSubmission(user_code=env("USER_CODE"), tracking_number=number)
    return submit_prealert.sync_detailed(client=courier_system, body=body)


def submit():
    results = [submit_one(f"{RUN}-{number}").parsed for number in (1, 2, 3)]
    return {"prealert_ids": [success_of(result).data.prealert_id for result in results]}


def submit_again():
    response = submit_one(f"{RUN}-1")
    failure = response.parsed
    return {"code": failure.code, "status": int(response.status_code), "request_id": failure.request_id}


def log_in_as(name):
    body = models.PasswordLoginAction(action="login", username=env(name), password=env("PASSWORD"))
    grant = success_of(login.sync(client=Client(base_url=env("URL")), body=body)).data
    clients[name] = AuthenticatedClient(base_url=env("URL"), token=grant.access_token)
    return grant.user.role


def log_in():
    return {"staff_role": log_in_as("STAFF_USERNAME"), "courier_role": log_in_as("COURIER_USERNAME")}


def staff(operation, **arguments):
    return success_of(operation.sync(client=clients["STAFF_USERNAME"], **arguments))


def list_prealerts():
    numbers, page = [], 1
    while True:
        result = staff(list_prealerts_api, search=f"{RUN}-", limit=1, page=page)
        numbers += [prealert.tracking_number for prealert in result.data]
        meta = result.meta
        if page >= meta.total_pages:
            return {"tracking_numbers": numbers, "total": meta.stats.total, "pages": meta.total_pages}
        page += 1


def receive():
    body = models.PackageIntake(tracking_number=f"{RUN}-1", weight=3.25)
    seen["package"] = staff(receive_package, body=body).data.package_id
    return {"package_id": seen["package"]}


def manage(body):
    return staff(manage_manifest, body=body).data


def ship():
    manifest = manage(models.CreateManifestAction(action="create_manifest")).manifest_id
    packages = [seen["package"]]
    manage(models.AddManifestPackagesAction(action="add_packages", manifest_id=manifest, package_ids=packages))
    for status in (models.ManifestStatus.READY, models.ManifestStatus.SHIPPED):
        manage(models.UpdateManifestAction(action="update_meta", manifest_id=manifest, status=status))
    return {"manifest_id": manifest, "status": staff(get_manifest, id=manifest).data.info.status}


def upload(dry_run):
    content = BytesIO(Path(env("CUSTOMERS_CSV")).read_bytes())
    file = types.File(payload=content, file_name="customers.csv", mime_type="text/csv")
    body = models.CustomerUpload(file=file, target_courier_id=COURIER_ID, dry_run=dry_run)
    return staff(upload_customers_api, body=body).data.created


def upload_customers():
    return {"dry_run_created": upload(True), "created": upload(False)}


def read_packages():
    file = staff(export_packages_xlsx, tracking_number=f"{RUN}-").payload.read()
    meta = staff(list_packages, body=models.PackageSearch(tracking_number=f"{RUN}-")).meta
    return {
        "file_start": file[:2].decode("ascii"),
        "file_bytes": len(file),
        "total": meta.total_count,
        "total_weight": meta.total_weight,
    }


def save_rates():
    rates = [
        models.RateTierInput(startweight=0, endweight=5, fee=12.75),
        models.RateTierInput(startweight=5.001, endweight=99999.999, fee=16777217.01),
    ]
    staff(manage_courier_rates, body=models.SaveRatesAction(action="save_rates", courier_id=COURIER_ID, rates=rates))
    courier = staff(get_courier_rates, courier_id=COURIER_ID).data.courier
    return {"fees": [tier.fee for tier in courier.specific_rates], "uses_global_rates": courier.uses_global_rates}


def change_settings():
    courier = clients["COURIER_USERNAME"]
    body = models.CourierSettingsUpdate(address2=RUN)
    settings = success_of(update_courier_settings.sync(client=courier, body=body))
    image = BytesIO(Path(env("LOGO_PNG")).read_bytes())
    file = types.File(payload=image, file_name="logo.png", mime_type="image/png")
    logo = success_of(upload_logo.sync(client=courier, body=models.LogoUpload(logo=file)))
    return {"address2": settings.data.address2, "logo_path": logo.data.path}


def read_webhook():
    body = json.loads(Path(env("WEBHOOKS_JSON")).read_text())["valid"]["body"]
    event = models.PackageCreatedEvent.from_dict(json.loads(body))
    return {"type": event.type_, "tracking_number": event.data.tracking_number, "sequence": event.sequence}


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
