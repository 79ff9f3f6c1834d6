import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { ask, logIn } from '../../support/service/client.js';
import {
  endProcesses,
  makeFolder,
  removeFolders,
  run,
  startReplica,
} from '../../support/service/processes.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';

// The report after a restore names the sender of each lost request, although its credential is of after the restore point.

const LIMIT_MS = 120_000;

let restored: DocumentedDatabase;
let lost: DocumentedDatabase;
/** The log of the lost server. */
let log: string;
let folder: string;
let since: string;

beforeAll(async () => {
  restored = await documentedDatabase({ demo: true });
  lost = await documentedDatabase({ demo: true });
  folder = await makeFolder();
  log = join(folder, 'service.log');
  await withClient(restored.ownerUrl, (client) =>
    client.query(
      "update installation.outbound set paused_at = now() + interval '1 hour', paused_because = 'A test.'",
    ),
  );
  await writeFile(log, await workOnLostServer());
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await restored.drop();
  await lost.drop();
  await removeFolders();
}, LIMIT_MS);

/** Replaces the API key of a courier, creates a service token of another one, and works with both. Returns the log. */
async function workOnLostServer(): Promise<string> {
  const server = await startReplica({ ...lost.urls, LOG_LEVEL: 'info', RUN_WORKER: 'false' });
  since = new Date().toISOString();
  const post = async (path: string, headers: Record<string, string>, body: object) => {
    const { status, text } = await ask(server.url, { method: 'POST', path, headers, body });
    expect([path, status]).toEqual([path, expect.any(Number)]);
    expect(status).toBeLessThan(300);
    return (JSON.parse(text) as { data: { api_key?: string; token?: string } }).data;
  };
  const as = async (user: string) => ({ authorization: `Bearer ${await logIn(server.url, user)}` });
  const courier_id = DEMO.couriers.IEX;
  const { api_key = '' } = await post('/api/RegenerateApiKey.php', await as('admin'), { courier_id });
  const announce = (headers: Record<string, string>, code: string, TrackingNumber: string) =>
    post('/api/Prealert.php', headers, { UserCode: code, TrackingNumber });
  await announce({ 'x-api-key': api_key }, 'IEX-1001', 'NEW-KEY-1');
  const scopes = ['prealerts:write'];
  const create = { action: 'create', name: 'new', scopes, current_password: DEMO.password };
  const { token = '' } = await post('/api/ServiceTokens.php', await as('hrb'), create);
  await announce({ authorization: `Bearer ${token}` }, 'HRB-2001', 'NEW-TOKEN-1');
  await post('/api/ReceivePackage.php', await as('warehouse'), {
    tracking_number: 'STAFF-1',
    weight: 1,
    user_code: 'IEX-1001',
  });
  await server.stop();
  return server.output();
}

type Line = { courier: string; kind: string; reference: string; id: string; note: string };

/** Returns the sender of each lost request by its operation, and what the command printed. */
async function report(lines: string, ...args: string[]) {
  await writeFile(log, lines);
  const program = run(
    'src/commands/restore-report.js',
    { DATABASE_OWNER_URL: restored.urls.DATABASE_OWNER_URL },
    [...['--since', since, '--out', folder, '--log', log, '--servers', '1'], ...args],
  );
  const { code } = await program.ended;
  expect(`${code}: ${program.output()}`).toMatch(/^0: /);
  const all = JSON.parse(await readFile(join(folder, 'couriers.json'), 'utf8')) as Line[];
  const senders = all
    .filter(({ kind }) => kind === 'request')
    .map(({ courier, reference }) => `${reference} ${courier}`);
  return { senders, all, output: program.output() };
}

const SENDERS = [
  'login (no credential)',
  'regenerateApiKey ',
  'submitPrealert IEX',
  'login (no credential)',
  'manageServiceTokens HRB',
  'submitPrealert HRB',
  'login (no credential)',
  'receivePackage ',
];

test(
  'a request with an API key or a service token of after the restore point is of its courier, by the log alone',
  async () => {
    const { senders, output } = await report(await readFile(log, 'utf8'));
    expect(senders).toEqual(SENDERS);
    expect(output).toMatch(/^demo IEX: 1 of kind request$/m);
    expect(output).toMatch(/^demo \(staff\): 2 of kind request$/m);
    expect(output).toMatch(/^demo \(no credential\): 3 of kind request$/m);
  },
  LIMIT_MS,
);

test(
  'only the owner may read the files of the report, also those that were there before, and a new folder',
  async () => {
    const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
    const files = ['couriers.csv', 'couriers.json'].map((name) => join(folder, name));
    for (const file of files) await writeFile(file, 'of before');
    for (const file of files) await chmod(file, 0o644);
    const lines = await readFile(log, 'utf8');
    await report(lines);
    expect(await Promise.all(files.map(modeOf))).toEqual(['600', '600']);
    const made = join(folder, 'made', 'here');
    await report(lines, '--out', made);
    const written = [made, join(made, 'couriers.csv'), join(made, 'couriers.json')];
    expect(await Promise.all(written.map(modeOf))).toEqual(['700', '600', '600']);
  },
  LIMIT_MS,
);

test(
  'a log of an earlier version, with the key alone: the lost server names the courier, and without it the key is named',
  async () => {
    const lines = await readFile(log, 'utf8');
    const earlier = lines.replaceAll(/("keyId":"[0-9a-f]{12}"),"courierId":"[^"]*"/g, '$1');
    expect(earlier).not.toBe(lines);
    const named = await report(earlier, '--lost', lost.ownerUrl);
    expect(named.senders).toEqual(SENDERS);
    // The change of a courier's user is the courier's, too.
    expect(named.all).toContainEqual(
      expect.objectContaining({ courier: 'HRB', kind: 'change', reference: 'service_token.created' }),
    );
    const alone = await report(earlier);
    const unknown = /\(unknown API key [0-9a-f]{12}\)/;
    expect(alone.senders.filter((sender) => unknown.test(sender))).toHaveLength(1);
    expect(alone.output).toMatch(/^demo \(unknown API key [0-9a-f]{12}\): 1 of kind request$/m);
    expect(alone.output).toMatch(/^demo \(staff\): 2 of kind request$/m);
    await writeFile(log, lines);
  },
  LIMIT_MS,
);

test(
  'a request of a courier that only the lost server has is not of the staff',
  async () => {
    const lines = await readFile(log, 'utf8');
    const later = '99999999-9999-4999-8999-999999999999';
    const { senders } = await report(
      lines.replaceAll(`"courierId":"${DEMO.couriers.IEX}"`, `"courierId":"${later}"`),
    );
    expect(senders).toContain(`submitPrealert (unknown courier ${later})`);
    await writeFile(log, lines);
  },
  LIMIT_MS,
);
