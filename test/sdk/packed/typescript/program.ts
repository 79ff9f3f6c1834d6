// The steps of sdk-tools/packed/steps.ts, in a project that has the SDK from its packed file.
import { readFileSync } from 'node:fs';
import {
  CrossdockClient,
  CrossdockKeyClient,
  parseTime,
  verifyWebhook,
  type AttemptReport,
  type PrealertSubmission,
} from '@crossdock/sdk';

const env = (name: string): string => process.env[`CROSSDOCK_${name}`] ?? '';
const run = env('RUN_ID');
const attempts: AttemptReport[] = [];

const prealert = (userCode: string, number: number): PrealertSubmission => ({
  UserCode: userCode,
  TrackingNumber: `${run}-${number}`,
});

async function submit(client: CrossdockKeyClient, userCode: string, number: number) {
  const { data } = await client.prealerts.submit(prealert(userCode, number));
  return { prealert_id: data.prealert_id };
}

const live = (baseUrl: string, onAttempt?: (report: AttemptReport) => void) =>
  new CrossdockKeyClient({ baseUrl, apiKey: env('API_KEY'), ...(onAttempt ? { onAttempt } : {}) });
const inSandbox = () => new CrossdockKeyClient({ baseUrl: env('SANDBOX_URL'), apiKey: env('SANDBOX_KEY') });

async function list() {
  const staff = new CrossdockClient({
    baseUrl: env('URL'),
    username: env('STAFF_USERNAME'),
    password: env('PASSWORD'),
    pageSize: 1,
  });
  const numbers: string[] = [];
  const times: Date[] = [];
  for await (const record of staff.prealerts.list({ search: `${run}-` })) {
    numbers.push(record.tracking_number);
    times.push(parseTime(record.created_at));
  }
  return { tracking_numbers: numbers, newest: Number(times[0]) / 1000 };
}

type Sample = { headers: Record<string, string>; body: string };

async function verify() {
  const text = readFileSync(env('WEBHOOKS_JSON'), 'utf8');
  const { secret, valid, tampered } = JSON.parse(text) as { secret: string; valid: Sample; tampered: Sample };
  const event = await verifyWebhook(valid.body, valid.headers, secret);
  const isTampered = await verifyWebhook(tampered.body, tampered.headers, secret).then(
    () => true,
    () => false,
  );
  return {
    tracking_number: event.type === 'package.created' ? event.data.tracking_number : event.type,
    tampered: isTampered,
    attempts: attempts.map(({ operation, attempt, status = null, requestId = '' }) => ({
      ...{ operation, attempt, status, request_id: requestId },
    })),
  };
}

const steps = [
  () => submit(live(env('URL')), env('USER_CODE'), 1),
  () =>
    submit(
      live(env('FAULTY_URL'), (report) => attempts.push(report)),
      env('USER_CODE'),
      2,
    ),
  list,
  verify,
  () => submit(inSandbox(), env('SANDBOX_USER_CODE'), 3),
];
for (const [index, step] of steps.entries()) {
  const report = await step().then(
    (seen) => ({ ok: true, ...seen }),
    (error: unknown) => ({ ok: false, error: String(error) }),
  );
  console.log(JSON.stringify({ step: index + 1, ...report }));
}
