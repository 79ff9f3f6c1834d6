// The calls of test/sdk/faults.test.ts, all at the same time. Prints one line of JSON for each.
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// The package is in the folder that the program runs in.
const load = (file) => import(pathToFileURL(join(process.cwd(), 'dist', file)).href);
const { ApiError, ConnectionError, CrossdockClient, CrossdockKeyClient, TimeoutError } =
  await load('index.js');
const { saveTo } = await load('node.js');

const { CROSSDOCK_API_KEY: apiKey, CROSSDOCK_USERNAME: username, CROSSDOCK_PASSWORD: password } = process.env;

await Promise.all(
  JSON.parse(process.env.CROSSDOCK_CALLS).map(async (call) => {
    const ended = await act(call).then((value) => ({ value }), describe);
    console.log(JSON.stringify({ name: call.name, ...ended }));
  }),
);

function describe(error) {
  if (error instanceof ApiError) return { error: 'refusal', status: error.status };
  if (error instanceof TimeoutError) return { error: 'timeout' };
  return { error: error instanceof ConnectionError ? 'no response' : `foreign: ${error?.stack}` };
}

async function act({ action, url: baseUrl, tracking_number: TrackingNumber, ...call }) {
  const options = {
    baseUrl,
    ...(call.max_retries === undefined ? {} : { maxRetries: call.max_retries }),
    ...(call.timeout_seconds === undefined
      ? {}
      : { timeoutMs: call.timeout_seconds * 1000, lastAttemptMs: call.last_attempt_seconds * 1000 }),
  };
  if (action === 'submit') {
    const client = new CrossdockKeyClient({ ...options, apiKey });
    return (await client.prealerts.submit({ UserCode: 'IEX-1001', TrackingNumber })).data.prealert_id;
  }
  if (action === 'batch') {
    const prealerts = Array.from({ length: 300 }, (_, n) => ({
      UserCode: 'IEX-1001',
      TrackingNumber: `${TrackingNumber}-${n}`,
    }));
    const { created, results } = await new CrossdockKeyClient({ ...options, apiKey }).prealerts.submitBatch(
      prealerts,
      { idempotencyKey: TrackingNumber },
    );
    return results.every(({ line }, index) => line === index + 1) && created;
  }
  const client = new CrossdockClient({ ...options, username, password });
  if (action === 'login') return (await client.login()).user.role;
  if (action === 'read') return (await client.prealerts.list({ limit: 1 })).data.length;
  if (action === 'delete')
    return (await client.prealerts.delete({ prealert_id: '00000000-0000-0000-0000-000000000000' })).message;
  const folder = await mkdtemp(join(tmpdir(), 'crossdock-faults-'));
  try {
    await saveTo(await client.packages.exportCsv(), join(folder, 'packages.csv'));
    return (await stat(join(folder, 'packages.csv'))).size > 0;
  } finally {
    await rm(folder, { recursive: true });
  }
}
