import { setTimeout as sleep } from 'node:timers/promises';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import {
  followServer,
  pauseOutbound,
  readPause,
  RESTORED,
  resumeOutbound,
  type SeenServer,
} from '../../../src/platform/queue/outbound-pause.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';
import { startReceiver, type Receiver } from '../../support/receivers/receiver.js';
import { eventually, setEndpoints } from '../../support/receivers/webhooks.js';
import { endProcesses, makeFolder, removeFolders, run } from '../../support/service/processes.js';
import { startService, type Service } from '../../support/service/service.js';

const LIMIT_MS = 60_000;

let database: DocumentedDatabase;
let service: Service;
let receiver: Receiver;
/** The database of a server that was lost. */
let lost: DocumentedDatabase;

beforeAll(async () => {
  database = await documentedDatabase({ demo: true });
  service = await startService({ database, worker: true });
  receiver = await startReceiver();
  lost = await documentedDatabase({ demo: true });
  const { owner, app } = service;
  await setEndpoints({ owner, secrets: app.secrets }, { add: `${receiver.url}/add` });
}, LIMIT_MS);

afterEach(() => resumeOutbound(service.owner));

afterAll(async () => {
  await endProcesses();
  await receiver.stop();
  await service.stop();
  await lost.drop();
  await removeFolders();
}, LIMIT_MS);

const ownerUrl = () => database.urls.DATABASE_OWNER_URL;

async function command(program: string, args: string[]): Promise<{ code: number | null; output: string }> {
  const running = run(`src/commands/${program}.js`, { DATABASE_OWNER_URL: ownerUrl() }, args);
  const { code } = await running.ended;
  return { code, output: running.output() };
}

let scans = 0;
async function receive(): Promise<string> {
  const tracking_number = `PAUSE-${(scans += 1)}`;
  const body = { tracking_number, weight: 1, user_code: 'IEX-1001' };
  expect((await service.call('receivePackage', { as: 'warehouse', body })).status).toBe(201);
  return tracking_number;
}

async function count(what: string): Promise<number> {
  const { rows } = await service.owner.query<{ n: number }>(`select count(*)::int as n from ${what}`);
  return rows[0]?.n ?? -1;
}

const pending = () => count("webhook_deliveries where status = 'pending'");

async function runnersOfWorker(): Promise<string[]> {
  const { rows } = await service.owner.query<{ id: string }>('select id from queue.worker_pools');
  return rows.map(({ id }) => id);
}

/**
 * Calls `pause`, and waits until the worker has started another runner because of it. A delivery shows that the runner
 * before it was not paused. Leaves one delivery that waits.
 */
async function pauseAndWait(pause: () => Promise<void>): Promise<void> {
  await receive();
  let before: string[] = [];
  await eventually(async () => {
    before = await runnersOfWorker();
    return before.length === 1 && (await pending()) === 0;
  });
  await pause();
  await eventually(async () => {
    const [runner] = await runnersOfWorker();
    return runner !== undefined && !before.includes(runner);
  });
  await receive();
}

test(
  'a paused worker sends nothing and runs other jobs; after the pause it sends what has waited',
  async () => {
    await pauseAndWait(() => pauseOutbound(service.owner, 'A test.'));
    const sent = receiver.received.length;
    const waiting = await pending();
    await receive();
    await service.owner.query("select graphile_worker.add_job('sweep')");
    await eventually(async () => (await count("graphile_worker.jobs where task_identifier = 'sweep'")) === 0);
    expect(await pending()).toBe(waiting + 1);
    expect(receiver.received).toHaveLength(sent);
    await resumeOutbound(service.owner);
    await eventually(async () => (await pending()) === 0);
    expect(receiver.received).toHaveLength(sent + waiting + 1);
  },
  LIMIT_MS,
);

describe('the service is on another server than before', () => {
  const setServer = async (server: string | null) => {
    await service.owner.query('update installation.outbound set server = $1', [server]);
  };
  const recorded = async () => {
    const { rows } = await service.owner.query('select server from installation.outbound');
    return rows[0]?.server;
  };
  /** The server of the tests, and the one before its last promotion. */
  let now: SeenServer;
  let before: SeenServer;

  beforeEach(async () => {
    await setServer(null);
    now = await followServer(service.owner);
    const [system, timeline = ''] = now.server.split('/');
    const previous = (Number.parseInt(timeline, 16) - 1).toString(16).padStart(8, '0');
    before = { ...now, server: `${system}/${previous}`, position: '0/1' };
  });

  afterAll(async () => {
    await setServer(null);
  });

  test('the first process records the server and does not pause, nor does the next one', async () => {
    expect(await recorded()).toMatch(/^\d+\/[0-9A-F]{8}$/);
    await followServer(service.owner);
    expect(await readPause(service.owner)).toBeUndefined();
  });

  test('a process that starts pauses, keeps the record, and keeps the first reason of a pause', async () => {
    await setServer('1/00000001');
    await followServer(service.owner);
    const pause = await readPause(service.owner);
    expect(pause).toMatchObject({ reason: RESTORED });
    await followServer(service.owner);
    await pauseOutbound(service.owner, 'Another reason.');
    expect(await readPause(service.owner)).toEqual(pause);
    expect(await recorded()).toBe('1/00000001');
    await resumeOutbound(service.owner);
    await followServer(service.owner);
    expect([await recorded(), await readPause(service.owner)]).toEqual([now.server, undefined]);
  });

  test.each([
    ['lacks what the worker saw', () => ({ ...before, position: 'FFFFFFFF/FFFFFFFF' })],
    ['is another system', () => ({ ...before, server: '1/00000000' })],
    ['was promoted more than once', () => ({ ...before, server: now.server.replace(/.$/, 'F') })],
  ])('a worker that runs pauses if the server %s', async (_what, seen) => {
    await setServer(seen().server);
    await followServer(service.owner, seen());
    expect(await readPause(service.owner)).toMatchObject({ reason: RESTORED });
  });

  // Its own rows name the server that it runs on, so only a process that has seen a newer one can tell.
  test.each([
    ['on an earlier timeline', () => ({ ...now, server: now.server.replace(/.{8}$/, 'FFFFFFFF') })],
    ['with less WAL', () => ({ ...now, flushed: 'FFFFFFFF/FFFFFFFF' })],
    ['of another system', () => ({ ...now, server: now.server.replace(/^\d+/, '1') })],
  ])('a worker that runs pauses if an old data folder %s is started', async (_what, seen) => {
    await followServer(service.owner, seen());
    expect(await readPause(service.owner)).toMatchObject({ reason: RESTORED });
    expect(await recorded()).toBe(now.server);
  });

  test('a worker that runs does not pause after another one has recorded a promoted standby', async () => {
    await followServer(service.owner, before);
    await followServer(service.owner, now);
    expect(await readPause(service.owner)).toBeUndefined();
  });
});

test(
  'npm run outbound pauses, lists what waits, and cancels what is older than a time before it resumes',
  async () => {
    await pauseAndWait(async () => {
      const paused = await command('outbound', ['--pause', 'Somebody looks into it.']);
      expect(paused).toMatchObject({
        code: 0,
        output: expect.stringMatching(/paused since .*: Somebody looks/),
      });
    });
    const old = await pending();
    await service.owner.query(
      `insert into manifest_mails (tenant_id, id, courier_id, manifest_id, manifest_number, manifest_status)
       values ($1, gen_random_uuid(), $2, $3, 'M-1', 'ready')`,
      [DEMO.tenants.demo, DEMO.couriers.IEX, DEMO.manifests.draft],
    );
    await service.owner.query(
      `insert into customer_sync_runs (tenant_id, id, courier_id, origin) values ($1, gen_random_uuid(), $2, 'schedule')`,
      [DEMO.tenants.demo, DEMO.couriers.IEX],
    );
    // The command's times are in milliseconds, so the old rows end in an earlier one, and the new ones begin in a later one.
    await sleep(5);
    const { rows } = await service.owner.query<{ time: Date }>('select clock_timestamp() as time');
    const time = rows[0]?.time.toISOString() ?? '';
    await sleep(5);
    await receive();
    expect((await command('outbound', [])).output).toMatch(/demo IEX: \d+ of kind webhook, created from/);

    const sent = receiver.received.length;
    const resumed = await command('outbound', ['--resume', '--cancel-before', time]);
    expect(resumed).toMatchObject({
      code: 0,
      output: expect.stringContaining(`${old} webhooks, 1 mails, 1 customer synchronisations`),
    });
    await eventually(async () => (await pending()) === 0);
    expect(receiver.received).toHaveLength(sent + 1);
    expect(await count("webhook_deliveries where status = 'failed'")).toBe(old);
    expect(await count("audit_entries where action = 'tenant.outbound_cancelled'")).toBeGreaterThan(0);
    const wrong = await command('outbound', ['--resume', '--cancel-before', '2026-12-01']);
    expect(wrong).toMatchObject({ code: 1, output: expect.stringContaining('is not a time with a zone') });
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const future = await command('outbound', ['--resume', '--cancel-before', later]);
    expect(future).toMatchObject({ code: 1, output: expect.stringContaining('is in the future') });
  },
  LIMIT_MS,
);

test(
  'npm run restore:report lists what only the lost server has, what it delivered, and what its log acknowledges',
  async () => {
    const since = new Date(Date.now() - 60_000);
    const folder = await makeFolder();
    const log = join(folder, 'service.log');
    const line = (status: number, method: string) =>
      JSON.stringify({
        ...{
          ...{ level: 30, time: Date.now(), pid: 7, hostname: 'host' },
          msg: 'request completed',
          reqId: `r-${status}`,
          operationId: 'submitPrealert',
        },
        ...{
          tenantId: DEMO.tenants.demo,
          courierId: DEMO.couriers.HRB,
          req: { method },
          res: { statusCode: status },
        },
      });
    // A request of the warehouse's staff, which belongs to no courier.
    const ofStaff = JSON.stringify({
      ...JSON.parse(line(202, 'POST')),
      courierId: undefined,
      userId: DEMO.tenants.demo,
    });
    const logged = ['not JSON', line(201, 'POST'), line(409, 'POST'), line(200, 'GET'), ofStaff];
    // The log goes on with the restored server.
    const later = new Date(Date.now() + 1_800_000);
    const ofRestored = JSON.stringify({
      ...JSON.parse(line(201, 'POST')),
      reqId: 'restored',
      time: later.getTime() + 1,
    });
    const startOfLog = JSON.stringify({
      ...{ level: 30, time: since.getTime() - 1, pid: 7, hostname: 'host', msg: 'Server listening' },
    });
    await writeFile(log, [startOfLog, ...logged, ofRestored].join('\n'));
    // The service's own database is the lost one here: the database that is restored does not have these packages.
    const number = await receive();
    await eventually(async () => (await pending()) === 0);
    const args = ['--since', since.toISOString(), '--out', folder, '--lost', ownerUrl(), '--log', log];
    const report = async (...more: string[]) => {
      const program = run(
        'src/commands/restore-report.js',
        { DATABASE_OWNER_URL: lost.urls.DATABASE_OWNER_URL },
        [...args, ...more],
      );
      const { code } = await program.ended;
      return { code, output: program.output() };
    };
    const pauseAt = (time: Date | null, reason = RESTORED) =>
      withClient(lost.ownerUrl, (client) =>
        client.query('update installation.outbound set paused_at = $1, paused_because = $2', [
          time,
          time && reason,
        ]),
      );
    const refused = (why: string) => ({ code: 1, output: expect.stringContaining(why) });
    expect(await report()).toEqual(refused('Outbound work is not paused any more, so the pause'));
    expect(await report('--until', since.toISOString())).toEqual(refused('is not later than --since'));
    await pauseAt(since);
    expect(await report()).toEqual(refused('Outbound work was paused before --since, so the pause'));
    const all = await report('--until', new Date(later.getTime() + 2).toISOString());
    expect(all).toEqual({ code: 2, output: expect.stringMatching(/as --until says\. .*not reported: 0\./) });
    // The lost server has received a package, and the log is made without it.
    expect(all.output).toMatch(/^NOT PROVED: .* with an audit entry of that time, .* in no log/m);
    expect(await readFile(join(folder, 'couriers.json'), 'utf8')).toContain('"restored"');
    await pauseAt(later);
    expect(await report()).toEqual({
      code: 2,
      output: expect.stringMatching(
        /demo IEX: .*of kind webhook[^]*The logs count until .*Later requests that are not reported: 1\./,
      ),
    });
    const once = await readFile(join(folder, 'couriers.json'), 'utf8');
    // A time before the first start of the restored server would leave out lost requests.
    const early = new Date(since.getTime() + 1).toISOString();
    expect(await report('--until', early)).toEqual(
      refused(`--until ${early} is before ${later.toISOString()}, when the first process that started on`),
    );
    await pauseAt(later, 'Somebody paused it.');
    expect(await report('--until', early)).toEqual({
      code: 2,
      output: expect.stringMatching(
        /until \S+, as --until says\. .*not reported: 3\.\nWARNING: --until .* paused by hand[^]*\nOf 0 ack.* The 3 later requests were not compared: /,
      ),
    });
    await pauseAt(null);
    const resumed = await report('--until', early);
    expect(resumed).toEqual({ code: 2, output: expect.stringContaining('as --until says') });
    expect(resumed.output).toMatch(/The 3 later requests were not compared: .* may be lost\.$/m);
    expect(resumed.output).not.toContain('Nothing acknowledged is missing');
    await pauseAt(later);
    // The work of a second lost server counts too. Here it has the same rows, which are listed once.
    expect(await report('--lost', ownerUrl())).toEqual({
      code: 2,
      output: expect.stringContaining('Of 2 acknowledged requests in the logs since '),
    });
    expect(await readFile(join(folder, 'couriers.json'), 'utf8')).toBe(once);
    // A request that the restored database has.
    await withClient(lost.ownerUrl, (client) =>
      client.query(
        `insert into audit_entries (tenant_id, id, actor_kind, action, entity, entity_id, request_id)
         values ($1, gen_random_uuid(), 'system', 'package.received', 'package', gen_random_uuid(), 'r-202')`,
        [DEMO.tenants.demo],
      ),
    );
    expect((await report()).output).toMatch(/has an audit entry of 1\. The others are in the report\./);
    expect(await readFile(join(folder, 'couriers.json'), 'utf8')).not.toContain('"r-202"');
    await writeFile(join(folder, 'couriers.json'), once);
    await pauseAt(null);
    const lines: unknown[] = JSON.parse(await readFile(join(folder, 'couriers.json'), 'utf8'));
    const feed = {
      courier: 'IEX',
      kind: 'feed',
      note: expect.stringContaining('The lost server had assigned'),
    };
    for (const expected of [
      { courier: 'IEX', kind: 'package', reference: number, note: expect.stringMatching(/^received as/) },
      { courier: 'IEX', kind: 'webhook', reference: number, note: 'delivered: package.created' },
      { courier: 'HRB', kind: 'request', id: 'r-201', reference: 'submitPrealert' },
      { tenant: 'demo', courier: '', kind: 'request', id: 'r-202' },
      feed,
    ])
      expect(lines).toContainEqual(expect.objectContaining(expected));
    expect(lines).not.toContainEqual(expect.objectContaining({ id: 'r-409' }));
    expect(lines).not.toContainEqual(expect.objectContaining({ id: 'r-200' }));
    expect(lines).not.toContainEqual(expect.objectContaining({ id: 'restored' }));
    const csv = await readFile(join(folder, 'couriers.csv'), 'utf8');
    // Without the request that the database has.
    expect(csv.split('\r\n')).toHaveLength(lines.length + 1);
    expect(csv).toContain(`package,`);
  },
  LIMIT_MS,
);

test(
  'restore:report without a log says that it proves nothing, also with its exit status',
  async () => {
    const args = ['--since', new Date().toISOString(), '--out', await makeFolder()];
    const report = async (...more: string[]) => {
      const program = run(
        'src/commands/restore-report.js',
        { DATABASE_OWNER_URL: lost.urls.DATABASE_OWNER_URL },
        [...args, ...more],
      );
      return [(await program.ended).code, program.output()];
    };
    expect(await report('--lost', ownerUrl())).toEqual([
      2,
      expect.stringMatching(
        /nothing known$[^]*^No log was given, so this does not show that nothing is lost: /m,
      ),
    ]);
    expect(await report()).toEqual([
      2,
      expect.stringMatching(/^Nothing of the lost server was given, so this does not show that nothing/m),
    ]);
    expect(await report('--help')).toEqual([
      0,
      expect.stringContaining('It is 2 without --log or --servers, if'),
    ]);
  },
  LIMIT_MS,
);

test(
  'restore:report refuses the restored database as the lost one, and doctor an owner of another database',
  async () => {
    const folder = await makeFolder();
    const args = ['--since', new Date().toISOString(), '--out', folder, '--lost', lost.ownerUrl];
    const report = run(
      'src/commands/restore-report.js',
      { DATABASE_OWNER_URL: lost.urls.DATABASE_OWNER_URL },
      args,
    );
    expect([(await report.ended).code, report.output()]).toEqual([
      1,
      expect.stringContaining('--lost leads to the restored database'),
    ]);
    const urls = { DATABASE_URL: lost.urls.DATABASE_URL, DATABASE_OWNER_URL: ownerUrl() };
    const doctor = run('src/commands/doctor.js', urls);
    await doctor.ended;
    expect(doctor.output()).toMatch(
      /^problem +owner +DATABASE_OWNER_URL leads to another database than DATABASE_URL\. Set /m,
    );
    const server = run('src/main.js', { ...urls, PORT: '0' });
    expect([(await server.ended).code, server.output()]).toEqual([
      1,
      expect.stringContaining('DATABASE_OWNER_URL leads to another database than DATABASE_URL'),
    ]);
  },
  LIMIT_MS,
);

test(
  'doctor says before the first start of a restored server that it will pause outbound work',
  async () => {
    const doctorOn = async (server: string | null) => {
      await withClient(lost.ownerUrl, (client) =>
        client.query('update installation.outbound set server = $1', [server]),
      );
      const doctor = run('src/commands/doctor.js', { DATABASE_URL: lost.urls.DATABASE_URL });
      await doctor.ended;
      return doctor.output();
    };
    expect(await doctorOn('1/00000001')).toMatch(
      /^warning +pause +Outbound work is not paused yet, and the next start of a server or worker pauses it: /m,
    );
    expect(await doctorOn(null)).toMatch(/^ok +pause +Outbound work is not paused\.$/m);
  },
  LIMIT_MS,
);
