import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startSes, type Ses } from '../../support/receivers/ses.js';
import { removeFolders } from '../../support/service/processes.js';
import { findingsFor, makeInstallation, type Installation } from './installation.js';

// Warnings that need more than one state of an installation. doctor.test.ts has the others.

const LIMIT_MS = 60_000;

let ses: Ses;
let installation: Installation;

beforeAll(async () => {
  ses = await startSes();
  installation = await makeInstallation(ses.url);
}, LIMIT_MS);

afterAll(async () => {
  await installation.drop();
  await ses.stop();
  await removeFolders();
}, LIMIT_MS);

/** Examines a copy of the installation after these statements, and returns the messages of one check. */
async function messagesOf(check: string, sql: string): Promise<string[]> {
  const copy = await installation.copy();
  try {
    await copy.owner.query(sql);
    const lines = await findingsFor(copy.env);
    return lines.filter((line) => line.check === check).map(({ level, message }) => `${level}: ${message}`);
  } finally {
    await copy.drop();
  }
}

const ADD_COURIERS = `
  insert into couriers (tenant_id, id, code, name, api_url_add_package, api_url_update_package)
  select id, gen_random_uuid(), code, code, 'https://' || code || '.example.com/?key=canary', url
  from tenants, (values ('AAA', 'https://aaa.example.com/?key=canary'), ('BBB', 'https://bbb.example.com'), ('CCC', null)) as c (code, url);
`;

/** Adds the state of the URLs of a courier. */
const addFailures = (code: string, endpoints: string[], since: string) => `
  insert into webhook_endpoints (tenant_id, courier_id, endpoint, failures, failing_since)
  select tenant_id, id, endpoint, 9, now() - interval '${since}'
  from couriers, unnest(array['${endpoints.join("','")}']) as endpoint where code = '${code}';
`;

test(
  'URLs that have failed for more than an hour are counted, and none is named',
  async () => {
    const lines = await messagesOf(
      'webhooks',
      ADD_COURIERS +
        addFailures('AAA', ['add_package', 'update_package'], '61 minutes') +
        addFailures('BBB', ['add_package'], '3 days') +
        // This one recovers in time, or is removed.
        addFailures('BBB', ['update_package'], '59 minutes') +
        addFailures('CCC', ['update_package'], '3 days'),
    );
    expect(lines).toEqual([
      expect.stringMatching(
        /^warning: Every webhook to 3 URLs of 2 couriers of the tenant miami has failed for more than an hour, the longest since \d{4}-[^ ]+Z\.$/,
      ),
    ]);
  },
  LIMIT_MS,
);

test(
  'URLs that fail for a shorter time are no warning',
  async () => {
    const sql = ADD_COURIERS + addFailures('AAA', ['add_package'], '59 minutes');
    expect(await messagesOf('webhooks', sql)).toEqual([
      'ok: No URL of a courier has failed for more than an hour.',
    ]);
  },
  LIMIT_MS,
);
