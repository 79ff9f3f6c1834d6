import { readFile } from 'node:fs/promises';
import createClient, { type Client } from 'openapi-fetch';
import { env, runSteps } from './steps';
import type { components, paths } from './schema';

type Schemas = components['schemas'];

const run = env('RUN_ID');
const courierId = env('COURIER_ID');
let packageId = '';

const connect = (headers: Record<string, string>): Client<paths> =>
  createClient<paths>({ baseUrl: env('URL'), headers });
const courierSystem = connect({ 'X-API-KEY': env('API_KEY') });
let staff = connect({});
let courier = connect({});

await runSteps([
  async function submit() {
    const ids = [1, 2, 3].map(
      async (number) => successOf(await submitOne(`${run}-${number}`)).data.prealert_id,
    );
    return { prealert_ids: await Promise.all(ids) };
  },
  async function submitAgain() {
    const { error, response } = await submitOne(`${run}-1`);
    return { code: error?.code, status: response.status, request_id: error?.request_id };
  },
  async function logIn() {
    const staffGrant = await logInAs(env('STAFF_USERNAME'));
    const courierGrant = await logInAs(env('COURIER_USERNAME'));
    staff = connect({ Authorization: `Bearer ${staffGrant.access_token}` });
    courier = connect({ Authorization: `Bearer ${courierGrant.access_token}` });
    return { staff_role: staffGrant.user.role, courier_role: courierGrant.user.role };
  },
  async function list() {
    const numbers: string[] = [];
    for (let page = 1; ; page++) {
      const query = { search: `${run}-`, limit: 1, page };
      const { data, meta } = successOf(await staff.GET('/api/ManagePrealerts.php', { params: { query } }));
      numbers.push(...data.map((prealert) => prealert.tracking_number));
      if (page >= meta.total_pages)
        return { tracking_numbers: numbers, total: meta.stats.total, pages: meta.total_pages };
    }
  },
  async function receive() {
    const body = { tracking_number: `${run}-1`, weight: 3.25 };
    packageId = successOf(await staff.POST('/api/ReceivePackage.php', { body })).data.package_id;
    return { package_id: packageId };
  },
  async function ship() {
    const { manifest_id } = await manage({ action: 'create_manifest' });
    await manage({ action: 'add_packages', manifest_id, package_ids: [packageId] });
    await manage({ action: 'update_meta', manifest_id, status: 'ready' });
    await manage({ action: 'update_meta', manifest_id, status: 'shipped' });
    const params = { query: { id: manifest_id } };
    const { data } = successOf(await staff.GET('/api/GetManifest.php', { params }));
    return { manifest_id, status: data.info.status };
  },
  async function uploadCustomers() {
    const dryRun = await upload(true);
    return { dry_run_created: dryRun, created: await upload(false) };
  },
  async function readPackages() {
    const query = { trackingNumber: `${run}-` };
    const file = await staff.GET('/api/ExportPackagesXlsx.php', {
      params: { query },
      parseAs: 'arrayBuffer',
    });
    const bytes = Buffer.from(successOf(file));
    const list = successOf(await staff.POST('/api/RetrievePackages.php', { body: query }));
    const { total_count: total, total_weight } = list.meta;
    return { file_start: bytes.toString('latin1', 0, 2), file_bytes: bytes.length, total, total_weight };
  },
  async function saveRates() {
    const rates = [
      { startweight: 0, endweight: 5, fee: 12.75 },
      { startweight: 5.001, endweight: 99999.999, fee: 16777217.01 },
    ];
    const body = { action: 'save_rates' as const, courier_id: courierId, rates };
    successOf(await staff.POST('/api/GetCourierRates.php', { body }));
    const params = { query: { courier_id: courierId } };
    const { data } = successOf(await staff.GET('/api/GetCourierRates.php', { params }));
    const fees = data.courier?.specific_rates.map(({ fee }) => fee);
    return { fees, uses_global_rates: data.courier?.uses_global_rates };
  },
  async function changeSettings() {
    const body = { address2: run };
    const settings = successOf(await courier.POST('/api/CourierSettingsAPI.php', { body }));
    const file = new Blob([await readFile(env('LOGO_PNG'))], { type: 'image/png' });
    const stored = await courier.POST('/api/UploadLogo.php', {
      body: { logo: 'logo.png' },
      bodySerializer: () => formOf({ logo: file }),
    });
    return { address2: settings.data.address2, logo_path: successOf(stored).data.path };
  },
  async function readWebhook() {
    const { valid } = JSON.parse(await readFile(env('WEBHOOKS_JSON'), 'utf8'));
    const event: Schemas['PackageCreatedEvent'] = JSON.parse(valid.body);
    return { type: event.type, tracking_number: event.data.tracking_number, sequence: event.sequence };
  },
]);

function submitOne(TrackingNumber: string) {
  return courierSystem.POST('/api/Prealert.php', { body: { UserCode: env('USER_CODE'), TrackingNumber } });
}

async function logInAs(username: string): Promise<Schemas['LoginGrant']> {
  const body = { action: 'login' as const, username, password: env('PASSWORD') };
  const result = successOf(await staff.POST('/api/login.php', { body }));
  if (result.status !== 'success') throw new Error(result.status);
  return result.data;
}

async function manage(body: Schemas['ManifestAction']) {
  return successOf(await staff.POST('/api/ManageManifest.php', { body })).data;
}

async function upload(dryRun: boolean): Promise<number> {
  const file = new Blob([await readFile(env('CUSTOMERS_CSV'))], { type: 'text/csv' });
  const result = await staff.POST('/api/UploadCustomers.php', {
    // The types describe a file as text. The serializer sends the real one.
    body: { file: 'customers.csv', target_courier_id: courierId, dry_run: dryRun },
    bodySerializer: (body) => formOf({ ...body, file }),
  });
  return successOf(result).data.created;
}

function formOf(fields: Record<string, unknown>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    form.append(name, value instanceof Blob ? value : String(value));
  return form;
}

function successOf<T>(result: { data?: T; error?: unknown }): T {
  if (result.data === undefined) throw new Error(JSON.stringify(result.error));
  return result.data;
}
