import { readFile } from 'node:fs/promises';
import { env, runSteps } from './steps';
import { createClient, type Client } from './client/client';
import * as api from './client';
import type { LoggedInUser, ManifestAction, PackageCreatedEvent } from './client';

const run = env('RUN_ID');
const courierId = env('COURIER_ID');
let packageId = '';

const connect = (auth?: string): Client => createClient({ baseUrl: env('URL'), auth, throwOnError: true });
const courierSystem = connect(env('API_KEY'));
let staff = connect();
let courier = connect();

await runSteps([
  async function submit() {
    const ids = [1, 2, 3].map((number) => submitOne(`${run}-${number}`));
    return { prealert_ids: await Promise.all(ids) };
  },
  async function submitAgain() {
    const { error, response } = await api.submitPrealert({
      client: courierSystem,
      throwOnError: false,
      body: { UserCode: env('USER_CODE'), TrackingNumber: `${run}-1` },
    });
    return { code: error?.code, status: response?.status, request_id: error?.request_id };
  },
  async function logIn() {
    const staffUser = await logInAs(env('STAFF_USERNAME'));
    const courierUser = await logInAs(env('COURIER_USERNAME'));
    staff = connect(staffUser.token);
    courier = connect(courierUser.token);
    return { staff_role: staffUser.user.role, courier_role: courierUser.user.role };
  },
  async function list() {
    const numbers: string[] = [];
    for (let page = 1; ; page++) {
      const query = { search: `${run}-`, limit: 1, page };
      const { data } = await api.listPrealerts({ client: staff, query, throwOnError: true });
      numbers.push(...data.data.map((prealert) => prealert.tracking_number));
      const { total_pages: pages, stats } = data.meta;
      if (page >= pages) return { tracking_numbers: numbers, total: stats.total, pages };
    }
  },
  async function receive() {
    const body = { tracking_number: `${run}-1`, weight: 3.25 };
    const { data } = await api.receivePackage({ client: staff, body, throwOnError: true });
    packageId = data.data.package_id;
    return { package_id: packageId };
  },
  async function ship() {
    const { manifest_id } = await manage({ action: 'create_manifest' });
    await manage({ action: 'add_packages', manifest_id, package_ids: [packageId] });
    await manage({ action: 'update_meta', manifest_id, status: 'ready' });
    await manage({ action: 'update_meta', manifest_id, status: 'shipped' });
    const query = { id: manifest_id };
    const { data } = await api.getManifest({ client: staff, query, throwOnError: true });
    return { manifest_id, status: data.data.info.status };
  },
  async function uploadCustomers() {
    const dryRun = await upload(true);
    return { dry_run_created: dryRun, created: await upload(false) };
  },
  async function readPackages() {
    const query = { trackingNumber: `${run}-` };
    const file = await api.exportPackagesXlsx({ client: staff, query, throwOnError: true });
    const bytes = Buffer.from(await (file.data as Blob).arrayBuffer());
    const { data } = await api.listPackages({ client: staff, body: query, throwOnError: true });
    const { total_count: total, total_weight } = data.meta;
    return { file_start: bytes.toString('latin1', 0, 2), file_bytes: bytes.length, total, total_weight };
  },
  async function saveRates() {
    const query = { courier_id: courierId };
    const rates = [
      { startweight: 0, endweight: 5, fee: 12.75 },
      { startweight: 5.001, endweight: 99999.999, fee: 16777217.01 },
    ];
    const body = { action: 'save_rates' as const, courier_id: courierId, rates };
    await api.manageCourierRates({ client: staff, body, throwOnError: true });
    const { data } = await api.getCourierRates({ client: staff, query, throwOnError: true });
    const saved = data.data.courier;
    return { fees: saved?.specific_rates.map(({ fee }) => fee), uses_global_rates: saved?.uses_global_rates };
  },
  async function changeSettings() {
    const body = { address2: run };
    const { data } = await api.updateCourierSettings({ client: courier, body, throwOnError: true });
    const logo = new Blob([await readFile(env('LOGO_PNG'))], { type: 'image/png' });
    const stored = await api.uploadLogo({ client: courier, body: { logo }, throwOnError: true });
    return { address2: data.data.address2, logo_path: stored.data.data.path };
  },
  async function readWebhook() {
    const { valid } = JSON.parse(await readFile(env('WEBHOOKS_JSON'), 'utf8'));
    const event: PackageCreatedEvent = JSON.parse(valid.body);
    return { type: event.type, tracking_number: event.data.tracking_number, sequence: event.sequence };
  },
]);

async function submitOne(TrackingNumber: string): Promise<string> {
  const body = { UserCode: env('USER_CODE'), TrackingNumber };
  const { data } = await api.submitPrealert({ client: courierSystem, body, throwOnError: true });
  return data.data.prealert_id;
}

async function logInAs(username: string): Promise<{ token: string; user: LoggedInUser }> {
  const body = { action: 'login' as const, username, password: env('PASSWORD') };
  const { data } = await api.login({ client: staff, body, throwOnError: true });
  if (data.status !== 'success') throw new Error(data.status);
  return { token: data.data.access_token, user: data.data.user };
}

async function manage(body: ManifestAction) {
  const { data } = await api.manageManifest({ client: staff, body, throwOnError: true });
  return data.data;
}

async function upload(dryRun: boolean): Promise<number> {
  const file = new Blob([await readFile(env('CUSTOMERS_CSV'))], { type: 'text/csv' });
  const body = { file, target_courier_id: courierId, dry_run: dryRun };
  const { data } = await api.uploadCustomers({ client: staff, body, throwOnError: true });
  return data.data.created;
}
