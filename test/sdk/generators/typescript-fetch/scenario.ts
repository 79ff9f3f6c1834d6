import { readFile } from 'node:fs/promises';
import { env, runSteps } from './steps';
import {
  Configuration,
  CouriersApi,
  CustomersApi,
  LoginApi,
  ManifestsApi,
  PackageCreatedEventFromJSON,
  PackagesApi,
  PrealertsApi,
  RatesApi,
  ResponseError,
  type LoginGrant,
  type ManifestAction,
  type ManifestOperationResult,
} from './client';

const run = env('RUN_ID');
const courierId = env('COURIER_ID');
let packageId = '';

const basePath = env('URL');
const courierSystem = new Configuration({ basePath, apiKey: env('API_KEY') });
let staff = new Configuration({ basePath });
let courier = new Configuration({ basePath });

await runSteps([
  async function submit() {
    const ids = [1, 2, 3].map((number) => submitOne(`${run}-${number}`));
    return { prealert_ids: await Promise.all(ids) };
  },
  async function submitAgain() {
    const error: unknown = await submitOne(`${run}-1`).catch((reason: unknown) => reason);
    if (!(error instanceof ResponseError)) throw error;
    const { code, request_id } = await error.response.json();
    return { code, status: error.response.status, request_id };
  },
  async function logIn() {
    const staffGrant = await logInAs(env('STAFF_USERNAME'));
    const courierGrant = await logInAs(env('COURIER_USERNAME'));
    staff = new Configuration({ basePath, accessToken: staffGrant.accessToken });
    courier = new Configuration({ basePath, accessToken: courierGrant.accessToken });
    return { staff_role: staffGrant.user.role, courier_role: courierGrant.user.role };
  },
  async function list() {
    const numbers: string[] = [];
    for (let page = 1; ; page++) {
      const { data, meta } = await new PrealertsApi(staff).listPrealerts({
        search: `${run}-`,
        limit: 1,
        page,
      });
      numbers.push(...data.map((prealert) => prealert.trackingNumber));
      if (page >= meta.totalPages)
        return { tracking_numbers: numbers, total: meta.stats.total, pages: meta.totalPages };
    }
  },
  async function receive() {
    const packageIntake = { trackingNumber: `${run}-1`, weight: 3.25 };
    const { data } = await new PackagesApi(staff).receivePackage({ packageIntake });
    packageId = data.packageId;
    return { package_id: packageId };
  },
  async function ship() {
    const { manifestId } = await manage({ action: 'create_manifest' });
    await manage({ action: 'add_packages', manifestId, packageIds: [packageId] });
    await manage({ action: 'update_meta', manifestId, status: 'ready' });
    await manage({ action: 'update_meta', manifestId, status: 'shipped' });
    const { data } = await new ManifestsApi(staff).getManifest({ id: manifestId });
    return { manifest_id: manifestId, status: data.info.status };
  },
  async function uploadCustomers() {
    const dryRun = await upload(true);
    return { dry_run_created: dryRun, created: await upload(false) };
  },
  async function readPackages() {
    const packages = new PackagesApi(staff);
    const file = await packages.exportPackagesXlsx({ trackingNumber: `${run}-` });
    const bytes = Buffer.from(await file.arrayBuffer());
    const list = await packages.listPackages({ packageSearch: { trackingNumber: `${run}-` } });
    const { totalCount: total, totalWeight: total_weight } = list.meta;
    return { file_start: bytes.toString('latin1', 0, 2), file_bytes: bytes.length, total, total_weight };
  },
  async function saveRates() {
    const rates = [
      { startweight: 0, endweight: 5, fee: 12.75 },
      { startweight: 5.001, endweight: 99999.999, fee: 16777217.01 },
    ];
    const api = new RatesApi(staff);
    await api.manageCourierRates({ rateAction: { action: 'save_rates', courierId, rates } });
    const { data } = await api.getCourierRates({ courierId });
    const fees = data.courier?.specificRates.map(({ fee }) => fee);
    return { fees, uses_global_rates: data.courier?.usesGlobalRates };
  },
  async function changeSettings() {
    const api = new CouriersApi(courier);
    const { data } = await api.updateCourierSettings({ courierSettingsUpdate: { address2: run } });
    const logo = new Blob([await readFile(env('LOGO_PNG'))], { type: 'image/png' });
    const stored = await api.uploadLogo({ logo });
    return { address2: data.address2, logo_path: stored.data.path };
  },
  async function readWebhook() {
    const { valid } = JSON.parse(await readFile(env('WEBHOOKS_JSON'), 'utf8'));
    const event = PackageCreatedEventFromJSON(JSON.parse(valid.body));
    return { type: event.type, tracking_number: event.data.trackingNumber, sequence: event.sequence };
  },
]);

async function submitOne(trackingNumber: string): Promise<string> {
  const prealertSubmission = { userCode: env('USER_CODE'), trackingNumber };
  return (await new PrealertsApi(courierSystem).submitPrealert({ prealertSubmission })).data.prealertId;
}

async function logInAs(username: string): Promise<LoginGrant> {
  const loginAction = { action: 'login' as const, username, password: env('PASSWORD') };
  const result = await new LoginApi(staff).login({ loginAction });
  if (!('accessToken' in result.data)) throw new Error(result.status);
  return result.data;
}

async function manage(manifestAction: ManifestAction): Promise<ManifestOperationResult> {
  return (await new ManifestsApi(staff).manageManifest({ manifestAction })).data;
}

async function upload(dryRun: boolean): Promise<number> {
  const file = new Blob([await readFile(env('CUSTOMERS_CSV'))], { type: 'text/csv' });
  const api = new CustomersApi(staff);
  return (await api.uploadCustomers({ file, targetCourierId: courierId, dryRun })).data.created;
}
