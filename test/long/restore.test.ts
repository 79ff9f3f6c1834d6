import { mkdtempSync } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { DEMO } from '../../fixtures/demo/seed.js';
import { projectRoot } from '../../src/config/project-root.js';
import { titleWith } from '../support/harness/programs.js';
import { accept, refuse } from '../support/receivers/receiver.js';
import { archiveNow, archiving, restoreTo, takeBaseBackup } from '../support/rehearsal/backup.js';
import { compareRows } from '../support/rehearsal/compare.js';
import { DEBIAN, dumpTo, restoreDump, startDebianServer } from '../support/rehearsal/debian-server.js';
import { install, operate, type Installation } from '../support/rehearsal/installation.js';
import { countFailures, startLoad, type Acknowledged } from '../support/rehearsal/load.js';
import { ask } from '../support/service/client.js';
import { startOwnServer } from '../support/service/postgres.js';
import { endProcesses, makeFolder, removeFolders, until } from '../support/service/processes.js';

// Loses a server and restores it, as docs/restore.md describes. `npm run rehearse:restore` runs it alone and prints the figures.

const LIMIT_MS = 600_000;
/** Seconds of load before and after the restore point. */
const SECONDS = 8;
const WRONG_KEY = 'ef01234567890abc'.repeat(4);

const sites: Installation[] = [];

afterEach(async () => {
  await endProcesses();
  for (const site of sites.splice(0)) await site.stop();
}, LIMIT_MS);

afterAll(removeFolders);

/** Sends requests, and returns the acknowledged writes. */
async function work(site: Installation, prefix: string): Promise<Acknowledged[]> {
  const load = startLoad(site.proxy.url, site.token, prefix);
  await load.wait(SECONDS);
  const { acknowledged, failures } = await load.stop();
  expect(countFailures(failures)).toEqual({});
  return acknowledged;
}

async function runToEnd(
  site: Installation,
  program: string,
  args: string[] = [],
  env: Record<string, string> = {},
) {
  const running = site.command(projectRoot, program, args, env);
  const { code } = await running.ended;
  return { code, output: running.output() };
}

async function count(site: Installation, what: string): Promise<number> {
  const { rows } = await site.owner.query<{ n: number }>(`select count(*)::int as n from ${what}`);
  return rows[0]?.n ?? -1;
}

const pendingWebhooks = (site: Installation) => count(site, "webhook_deliveries where status = 'pending'");

/** Lets the worker append all audit entries to the chains, then verifies every link through the API. */
async function verifyAudit(site: Installation): Promise<number> {
  const question = (after: number) => ({
    ...{ method: 'POST', path: '/api/AuditLog.php', headers: { authorization: `Bearer ${site.token}` } },
    body: { action: 'verify', after },
  });
  let verified = 0;
  for (let after: number | null = 0; after !== null;) {
    const { status, text } = await ask(site.proxy.url, question(after));
    expect([status, text]).toEqual([200, expect.stringContaining('"intact":true')]);
    // The contract defines this shape.
    const { data } = JSON.parse(text) as { data: { verified: number; next_after: number | null } };
    verified += data.verified;
    after = data.next_after;
  }
  return verified;
}

/** Expects that sequence numbers continue where the restored data end. */
async function expectSequences(site: Installation): Promise<void> {
  const { rows: events } = await site.owner.query(
    `select from event_counters c where last_sequence is distinct from
       (select max(sequence) from events e where e.tenant_id = c.tenant_id and e.courier_id = c.courier_id)`,
  );
  expect(events).toEqual([]);
  const { rows: jobs } = await site.owner.query<{ behind: boolean }>(
    `select coalesce((select max(id) from graphile_worker._private_jobs), 0) >
       coalesce(pg_sequence_last_value('graphile_worker.jobs_id_seq1'), 0) as behind`,
  );
  expect(jobs).toEqual([{ behind: false }]);
}

/** Expects that the doctor decrypts every encrypted field, and says what is wrong with a wrong or a missing key. */
async function expectDecryption(site: Installation): Promise<string> {
  const examine = (keys: Record<string, string>) =>
    runToEnd(site, 'src/commands/doctor.js', ['--thorough'], keys);
  const right = await examine({});
  const [line] = /ok +encryption.*/.exec(right.output) ?? [];
  expect([right.output, line]).toEqual([right.output, expect.stringContaining('all can be decrypted')]);
  expect(right.output).toMatch(/warning +pause/);
  const wrong = await examine({ ENCRYPTION_KEYS: `1:${WRONG_KEY}` });
  expect([wrong.code, wrong.output]).toEqual([
    1,
    expect.stringContaining('the key of its version is another one'),
  ]);
  const missing = await examine({ ENCRYPTION_KEYS: `2:${WRONG_KEY}` });
  expect(missing.output).toContain('No encryption key of version 1 is configured.');
  return line ?? '';
}

const seconds = (sinceMs: number) => ((performance.now() - sinceMs) / 1_000).toFixed(1);

test(
  'a base backup and archived WAL restore every row up to a time and none after it, and nothing is sent again by itself',
  async () => {
    const archive = await makeFolder();
    await chmod(archive, 0o777);
    const lost = await startOwnServer(undefined, archiving(archive));
    const site = await install(projectRoot, lost);
    sites.push(site);
    const early = work(site, 'EARLY');
    const backup = await makeFolder();
    const backupMs = performance.now();
    await takeBaseBackup(site.server, backup);
    const backupSeconds = seconds(backupMs);
    const before = [...(await early), ...(await work(site, 'BEFORE'))];
    // The last webhooks before the restore point wait for a courier whose system is away.
    site.receiver.answer = refuse(503);
    const waiting = await work(site, 'WAITING');
    await until(async () => (await pendingWebhooks(site)) > 0);
    const [now] = await site.server.query('select clock_timestamp()::text as time');
    const time = String(now?.['time']);
    const pendingAtTime = await pendingWebhooks(site);
    site.receiver.answer = accept;
    const after = await work(site, 'AFTER');
    await until(async () => (await pendingWebhooks(site)) === 0, 120_000);
    await archiveNow(site.server);
    const sentByLost = site.receiver.received.length;

    // The server is lost, and its disk can still be read.
    await endProcesses();
    await lost.crash();
    await lost.restart();
    const restoreMs = performance.now();
    const server = await restoreTo(time, backup, archive);
    const restoreSeconds = seconds(restoreMs);
    const startMs = performance.now();
    const restored = await operate(projectRoot, server, site.receiver);
    sites.push(restored);
    const startSeconds = seconds(startMs);

    const kept = [...before, ...waiting];
    for (const prefix of ['EARLY', 'BEFORE', 'WAITING']) {
      const own = kept.filter(({ number }) => number.startsWith(`${prefix}-`));
      expect(await compareRows(restored.owner, own, prefix)).toMatchObject({ lost: [], doubled: [] });
    }
    for (const table of ['prealerts', 'packages'])
      expect(await count(restored, `${table} where starts_with(tracking_number, 'AFTER-')`)).toBe(0);
    const verified = await verifyAudit(restored);
    await expectSequences(restored);
    const encryption = await expectDecryption(restored);

    expect(await pendingWebhooks(restored)).toBe(pendingAtTime);
    expect(await pendingWebhooks(restored)).toBeGreaterThan(0);
    const status = await runToEnd(restored, 'src/commands/outbound.js');
    expect(status).toMatchObject({
      code: 0,
      output: expect.stringContaining('Outbound work is paused since'),
    });

    const folder = await makeFolder();
    const reported = await runToEnd(restored, 'src/commands/restore-report.js', [
      ...['--since', time],
      ...['--out', folder, '--lost', site.server.urlOf('crossdock')],
    ]);
    // Without a log it proves nothing.
    expect(reported).toMatchObject({ code: 2 });
    // The program has just written it.
    const lines = JSON.parse(await readFile(join(folder, 'couriers.json'), 'utf8')) as {
      kind: string;
      reference: string;
      courier: string;
    }[];
    for (const [kind, table] of [
      ['prealert', 'prealerts'],
      ['package', 'packages'],
    ] as const)
      expect(
        lines
          .filter((line) => line.kind === kind)
          .map(({ reference }) => reference)
          .sort(),
      ).toEqual(
        after
          .filter((write) => write.table === table)
          .map(({ number }) => number)
          .sort(),
      );
    const delivered = lines.filter(({ kind }) => kind === 'webhook');
    expect(delivered.length).toBeGreaterThanOrEqual(pendingAtTime);

    // The workers have had time for what waits, and have sent nothing.
    expect(site.receiver.received).toHaveLength(sentByLost);
    const resumed = await runToEnd(restored, 'src/commands/outbound.js', ['--resume']);
    expect(resumed).toMatchObject({ code: 0, output: expect.stringContaining('is not paused') });
    await until(async () => (await pendingWebhooks(restored)) === 0, 120_000);
    const idOf = ({ headers }: { headers: Record<string, string> }) => headers['webhook-id'] ?? '';
    const known = new Set(site.receiver.received.slice(0, sentByLost).map(idOf));
    const repeated = site.receiver.received.slice(sentByLost).map(idOf);
    expect(new Set(repeated).size).toBe(pendingAtTime);
    // The courier recognises each of them by its id.
    expect(repeated.filter((id) => !known.has(id))).toEqual([]);
    process.stdout.write(
      `Point in time: backup ${backupSeconds} s under load, recovery ${restoreSeconds} s, start ` +
        `${startSeconds} s. ${kept.length} acknowledged rows compared, 0 lost, 0 of ${after.length} later ones present. ` +
        `${verified} audit entries verified. ${encryption} ${lines.length} lines in the report, ` +
        `${delivered.length} webhooks delivered after the restore point, ${pendingAtTime} waited until the resume ` +
        `and arrived again with the same id.\n${reported.output}`,
    );
  },
  LIMIT_MS,
);

(DEBIAN ? test : test.skip)(
  titleWith('a logical dump restores every row, and what waits can be cancelled before it is sent', [
    DEBIAN ? undefined : 'pg_dump of the same version as a server',
  ]),
  async () => {
    if (!DEBIAN) return;
    const site = await install(projectRoot, await startDebianServer(DEBIAN, mkdtempSync('/tmp/crossdock-')));
    sites.push(site);
    site.receiver.answer = refuse(503);
    const before = await work(site, 'DUMPED');
    await until(async () => (await pendingWebhooks(site)) > 0);
    const file = join(await makeFolder(), 'crossdock.dump');
    const dumpMs = performance.now();
    await dumpTo(DEBIAN, site.server, file);
    const dumpSeconds = seconds(dumpMs);
    await endProcesses();

    const server = await startDebianServer(DEBIAN, mkdtempSync('/tmp/crossdock-'));
    const restoreMs = performance.now();
    restoreDump(DEBIAN, server, file);
    const restoreSeconds = seconds(restoreMs);
    const restored = await operate(projectRoot, server, site.receiver);
    sites.push(restored);
    expect(await compareRows(restored.owner, before, 'DUMPED')).toMatchObject({ lost: [], doubled: [] });
    const verified = await verifyAudit(restored);
    await expectSequences(restored);
    const encryption = await expectDecryption(restored);
    const pending = await pendingWebhooks(restored);
    expect(pending).toBeGreaterThan(0);

    const cancelled = await runToEnd(restored, 'src/commands/outbound.js', [
      ...['--resume', '--cancel-before', new Date().toISOString()],
    ]);
    expect(cancelled).toMatchObject({ code: 0, output: expect.stringContaining(`${pending} webhooks`) });
    const sentByLost = site.receiver.received.length;
    site.receiver.answer = accept;
    const later = await work(restored, 'LATER');
    const packages = later.filter(({ table }) => table === 'packages').length;
    await until(async () => (await pendingWebhooks(restored)) === 0, 120_000);
    // Only the events of the later packages were sent.
    const sent = site.receiver.received.slice(sentByLost);
    expect(sent.length).toBeGreaterThanOrEqual(packages);
    const { rows } = await restored.owner.query<{ id: string }>(
      `select e.id from events e join packages p on p.tenant_id = e.tenant_id and p.id = e.package_id
       where e.courier_id = $1 and starts_with(p.tracking_number, 'LATER-')`,
      [DEMO.couriers.IEX],
    );
    const ids = new Set(rows.map(({ id }) => id));
    expect(sent.filter(({ headers }) => !ids.has(headers['webhook-id'] ?? ''))).toEqual([]);
    process.stdout.write(
      `Logical dump: dump ${dumpSeconds} s, restore ${restoreSeconds} s. ${before.length} acknowledged rows compared, ` +
        `0 lost. ${verified} audit entries verified. ${encryption} ${pending} webhooks cancelled, 0 of them sent.\n`,
    );
  },
  LIMIT_MS,
);
