import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';

/** The files that a scenario program reads. */
export type Inputs = { customersCsv: string; logoPng: string; webhooksJson: string; remove(): Promise<void> };

/** A PNG of 1 x 1 pixel. */
const LOGO = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export async function writeInputs(runId: string): Promise<Inputs> {
  const folder = await mkdtemp(join(tmpdir(), 'crossdock-sdk-'));
  const inputs = {
    customersCsv: join(folder, 'customers.csv'),
    logoPng: join(folder, 'logo.png'),
    webhooksJson: join(folder, 'webhooks.json'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
  const rows = [`${runId}-A,Ann,Lee,Kingston`, `${runId}-B,Béa,Núñez,`];
  await writeFile(inputs.customersCsv, ['user_code,first_name,last_name,branch', ...rows, ''].join('\n'));
  await writeFile(inputs.logoPng, LOGO);
  await writeFile(inputs.webhooksJson, JSON.stringify(webhookSamples(runId)));
  return inputs;
}

/** A webhook whose signature list begins with one of another secret, as after a rotation, and a changed copy of it. */
function webhookSamples(runId: string) {
  const [secret, other] = [newSecret(), newSecret()];
  const body = JSON.stringify({
    type: 'package.created',
    event_id: randomUUID(),
    sequence: 1,
    timestamp: '2026-11-21 15:04:09',
    data: packageOf(`${runId}-1`),
  });
  const sentAt = new Date();
  const signatures = [other, secret].map((each) => new Webhook(each).sign(runId, sentAt, body));
  const headers = {
    'webhook-id': runId,
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
  return { secret, valid: { headers, body }, tampered: { headers, body: body.replace('Caf', 'caf') } };
}

/** A package as webhooks contain it, with all fields. */
const packageOf = (trackingNumber: string) => ({
  package_id: randomUUID(),
  tracking_number: trackingNumber,
  house_number: '7K3M9QW',
  user_code: 'IEX-1001',
  first_name: 'Marcia',
  last_name: 'Campbell',
  weight: 2.25,
  length: 12,
  width: 8.5,
  height: 4,
  package_type: 'box',
  shipper: 'Café Müller',
  description: null,
  status: 'received',
  manifest_number: null,
  entry_date_time: '2026-11-21 15:04:09',
});

const newSecret = () => `whsec_${randomBytes(24).toString('base64')}`;
