// Compiled by test/sdk/typescript-package.test.ts against the packed package, with the types of a browser and of Node.js.
import {
  ApiError,
  CrossdockClient,
  CrossdockKeyClient,
  verifyWebhook,
  type Prealert,
  type PrealertSubmission,
} from '@crossdock/sdk';

const baseUrl = 'https://demo.crossdock.example';
const staff = new CrossdockClient({
  baseUrl,
  username: 'admin',
  password: 'secret',
  secondFactor: () => '123456',
});
const courier = new CrossdockKeyClient({ baseUrl, apiKey: 'key' });

const prealert: PrealertSubmission = { UserCode: 'IEX-1001', TrackingNumber: '1Z' };
const { prealert_id: id, warnings = [] } = (await courier.prealerts.submit(prealert)).data;
const codes: string[] = warnings.map(({ code }) => code);
for (const { warnings: ofLine = [] } of (await courier.prealerts.submitBatch([prealert])).results)
  codes.push(...ofLine.map(({ code }) => code));

// A list is a page and its records, with their types.
const { data, meta } = await staff.prealerts.list({ status: 'pending' });
const total: number = meta.stats.total + data.length;
for await (const record of staff.prealerts.list()) sees(record);
for await (const event of staff.events.list({ after: 0 }))
  if (event.type === 'package.created') event.data.weight.toFixed();

// Values that a later version adds are accepted, and the listed ones are known.
function sees({ status }: Prealert): void {
  const later: Prealert['status'] = 'a_later_status';
  if (status === 'flagged' || status === later) return;
}

// Inputs are checked: a name, a value, and what is missing.
// @ts-expect-error: the filter is misspelt
await staff.prealerts.list({ stats: 'pending' });
// @ts-expect-error: the status does not exist
await staff.prealerts.list({ status: 'unknown' });
// @ts-expect-error: the weight is missing
await staff.packages.receive({ tracking_number: '1Z' });
// @ts-expect-error: the manifest and the packages are missing
await staff.manifests.manage({ action: 'add_packages' });
// @ts-expect-error: there is no credential
new CrossdockClient({ baseUrl });
// @ts-expect-error: an API key only submits pre-alerts
await courier.packages;

await staff.manifests.manage({ action: 'add_packages', manifest_id: id, package_ids: [id] });
const label = await staff.packages.label(
  { package_id: id, format: 'zpl' },
  { signal: AbortSignal.timeout(5_000) },
);
const text: string = await label.text();

try {
  await courier.prealerts.submitBatch([prealert], { atomic: true });
} catch (error) {
  if (error instanceof ApiError && error.code === 'duplicate_tracking_number') error.requestId?.trim();
}

const event = await verifyWebhook(text, new Headers(), 'whsec_');
if (event.type === 'webhook.test') event.data.message.trim();

export { codes, total };
