// The twelve steps of `npm run sdk:test`. Reads the environment and prints one line of JSON per step.
import { readFile } from 'node:fs/promises';
import { ApiError, CrossdockClient, CrossdockKeyClient, verifyWebhook } from '@crossdock/sdk';
import { fileAt } from '@crossdock/sdk/node';

const env = process.env;
const run = env.CROSSDOCK_RUN_ID;
const courier_id = env.CROSSDOCK_COURIER_ID;
const baseUrl = env.CROSSDOCK_URL;
const password = env.CROSSDOCK_PASSWORD;

const key = new CrossdockKeyClient({ baseUrl, apiKey: env.CROSSDOCK_API_KEY });
const staff = new CrossdockClient({ baseUrl, username: env.CROSSDOCK_STAFF_USERNAME, password });
const courier = new CrossdockClient({ baseUrl, username: env.CROSSDOCK_COURIER_USERNAME, password });

const prealert = (number) => ({
  UserCode: env.CROSSDOCK_USER_CODE,
  TrackingNumber: `${run}-${number}`,
  Vendor: 'Amazon',
});
let packageId;

const STEPS = [
  async function submit() {
    const prealert_ids = [];
    for (const number of [1, 2, 3]) {
      const { data } = await key.prealerts.submit(prealert(number));
      prealert_ids.push(data.prealert_id);
    }
    return { prealert_ids };
  },
  async function duplicate() {
    const error = await key.prealerts.submit(prealert(1)).catch((reason) => reason);
    if (!(error instanceof ApiError)) throw new Error('The duplicate was accepted.', { cause: error });
    return { code: error.code, status: error.status, request_id: error.requestId };
  },
  async function logIn() {
    const [first, second] = await Promise.all([staff.login(), courier.login()]);
    return { staff_role: first.user.role, courier_role: second.user.role };
  },
  async function list() {
    const seen = { tracking_numbers: [], total: 0, pages: 0 };
    for await (const page of staff.prealerts.list({ search: `${run}-`, limit: 1 }).pages()) {
      seen.tracking_numbers.push(...page.data.map(({ tracking_number }) => tracking_number));
      seen.total = page.meta.stats.total;
      seen.pages += 1;
    }
    return seen;
  },
  async function receive() {
    const { data } = await staff.packages.receive({ tracking_number: `${run}-1`, weight: 3.25 });
    packageId = data.package_id;
    return { package_id: packageId };
  },
  async function ship() {
    const created = await staff.manifests.create({ awb_number: '106-12345675' });
    const { manifest_id } = created.data;
    await staff.manifests.manage({ action: 'add_packages', manifest_id, package_ids: [packageId] });
    for (const status of ['ready', 'shipped'])
      await staff.manifests.manage({ action: 'update_meta', manifest_id, status });
    const { data } = await staff.manifests.get({ id: manifest_id });
    return { manifest_id, status: data.info.status };
  },
  async function upload() {
    const file = fileAt(env.CROSSDOCK_CUSTOMERS_CSV, 'text/csv');
    const input = { file, target_courier_id: courier_id };
    const dryRun = await staff.customers.upload({ ...input, dry_run: true });
    const { data } = await staff.customers.upload(input);
    return { dry_run_created: dryRun.data.created, created: data.created };
  },
  async function exportPackages() {
    const filters = { trackingNumber: `${run}-` };
    const file = await staff.packages.exportXlsx(filters);
    const bytes = await file.bytes();
    const { meta } = await staff.packages.list(filters);
    return {
      file_start: new TextDecoder('latin1').decode(bytes.subarray(0, 2)),
      file_bytes: bytes.length,
      total: meta.total_count,
      total_weight: meta.total_weight,
    };
  },
  async function rates() {
    await staff.rates.get({ courier_id });
    const tiers = [
      { startweight: 0, endweight: 5, fee: 12.75 },
      { startweight: 5.001, endweight: 99999.999, fee: 16777217.01 },
    ];
    await staff.rates.manage({ action: 'save_rates', courier_id, rates: tiers });
    const { data } = await staff.rates.get({ courier_id });
    const { specific_rates, uses_global_rates } = data.courier;
    return { fees: specific_rates.map(({ fee }) => fee), uses_global_rates };
  },
  async function settings() {
    const saved = await courier.couriers.updateSettings({ address2: run });
    const logo = await courier.couriers.uploadLogo({ logo: fileAt(env.CROSSDOCK_LOGO_PNG, 'image/png') });
    return { address2: saved.data.address2, logo_path: logo.data.path };
  },
  async function events() {
    const seen = { events: 0, last_sequence: 0 };
    for await (const event of courier.events.list({ after: 0, limit: 50 })) {
      seen.events += 1;
      seen.last_sequence = event.sequence;
    }
    const { secret, ...samples } = JSON.parse(await readFile(env.CROSSDOCK_WEBHOOKS_JSON, 'utf8'));
    const isValid = ({ body, headers }) =>
      verifyWebhook(body, headers, secret).then(
        () => true,
        () => false,
      );
    return { ...seen, valid: await isValid(samples.valid), tampered: await isValid(samples.tampered) };
  },
  async function retry() {
    const client = new CrossdockKeyClient({
      baseUrl: env.CROSSDOCK_FAULTY_URL,
      apiKey: env.CROSSDOCK_API_KEY,
    });
    const { data } = await client.prealerts.submit(prealert(12));
    return { prealert_id: data.prealert_id };
  },
];

for (const [index, work] of STEPS.entries()) {
  const step = index + 1;
  const report = await work().then(
    (seen) => ({ step, ok: true, ...seen }),
    (error) => ({ step, ok: false, error: error.stack }),
  );
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
