import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { ask } from '../../support/service/client.js';
import {
  endProcesses,
  makeFolder,
  removeFolders,
  run,
  startReplica,
} from '../../support/service/processes.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';
import { matching } from '../../support/assertions/matching.js';

// The report after a restore says that nothing is missing only if the logs of all servers have the whole time.

const LIMIT_MS = 120_000;

type Line = {
  level: number;
  time: number;
  pid: number;
  hostname: string;
  msg: string;
  reqId?: string;
};

let restored: DocumentedDatabase;
let folder: string;
/** After the servers have started and before their first request. */
let since: Date;
/** After the last request. */
let afterWork: Date;
/** The logs of two servers on hosts of their own, with the start of the restored servers. */
let logs: { one: Line[]; two: Line[] };

beforeAll(async () => {
  restored = await documentedDatabase({ demo: true });
  folder = await makeFolder();
  const settings = { ...restored.urls, LOG_LEVEL: 'info', RUN_WORKER: 'false' };
  const [one, two] = [await startReplica(settings), await startReplica(settings)];
  since = new Date();
  const announce = async (url: string, TrackingNumber: string) => {
    const body = { UserCode: 'IEX-1001', TrackingNumber };
    const { status } = await ask(url, {
      method: 'POST',
      path: '/api/Prealert.php',
      headers: { 'x-api-key': DEMO.apiKeys.IEX },
      body,
    });
    expect(status).toBeLessThan(300);
  };
  for (const number of ['A', 'B']) {
    await announce(one.url, `ONE-${number}`);
    await announce(two.url, `TWO-${number}`);
  }
  await Promise.all([one.stop(), two.stop()]);
  afterWork = new Date(Date.now() + 2_000);
  const pause = new Date(afterWork.getTime() + 60_000);
  await withClient(restored.ownerUrl, (client) =>
    client.query("update installation.outbound set paused_at = $1, paused_because = 'A test.'", [pause]),
  );
  logs = { one: linesOf(one.output(), 'host-one', pause), two: linesOf(two.output(), 'host-two', pause) };
  // The report refuses a time in the future.
  await sleep(Math.max(0, afterWork.getTime() - Date.now()));
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await restored.drop();
  await removeFolders();
}, LIMIT_MS);

/** Returns the log of a server, as if it ran on a host of its own, had run before, and started again on the restored database. */
function linesOf(output: string, hostname: string, pause: Date): Line[] {
  const lines = output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    // Each line that the service writes has these fields.
    .map((line) => ({ ...(JSON.parse(line) as Line), hostname }));
  const startAt = (time: number) => ({ level: 30, time, pid: 7, hostname, msg: 'Server listening' });
  // The log begins a minute earlier, with another process: a report allows for clocks that differ by a second.
  return [startAt((lines[0]?.time ?? 0) - 60_000), ...lines, startAt(pause.getTime() + 1_000)];
}

/** Writes logs, and makes the report of them. */
async function report(texts: (Line[] | string)[], ...args: string[]) {
  const paths = texts.map((_, index) => join(folder, `${index}.log`));
  for (const [index, text] of texts.entries())
    await writeFile(
      paths[index] ?? '',
      typeof text === 'string' ? text : text.map((line) => JSON.stringify(line)).join('\n'),
    );
  const program = run(
    'src/commands/restore-report.js',
    { DATABASE_OWNER_URL: restored.urls.DATABASE_OWNER_URL },
    [
      ...(args.includes('--since') ? [] : ['--since', since.toISOString()]),
      ...['--out', folder, ...paths.flatMap((path) => ['--log', path]), ...args],
    ],
  );
  return { code: (await program.ended).code, output: program.output() };
}

const both = (change: (lines: Line[]) => Line[] = (lines) => lines) => [change(logs.one), change(logs.two)];

const isCompleted = ({ msg }: Line) => msg === 'request completed';

/** What the report must not say without a proof. */
const MISSING_NOTHING = matching(
  /^Of .*is missing/m,
  'Of 32 acknowledged requests, 32 were found. Nothing that the logs acknowledge until now is missing.',
);

/** The report says why it proves nothing, in its status too. */
function expectUnproved(result: { code: number | null; output: string }, why: RegExp): void {
  expect(result).toEqual({ code: 2, output: expect.stringMatching(/^NOT PROVED: /m) });
  expect(result.output).toMatch(why);
  expect(result.output).not.toMatch(MISSING_NOTHING);
}

test(
  'with the whole logs of both servers and their number, nothing is missing',
  async () => {
    const { code, output } = await report(both(), '--servers', '2');
    expect(`${code}: ${output}`).toMatch(/^0: /);
    expect(output).not.toContain('NOT PROVED');
    expect(output).toMatch(/0\.log: from \S+ to \S+, 2 requests\. The longest time without a line: /);
    expect(output).toMatch(/^The logs show 2 hosts with servers: host-one, host-two\.$/m);
    expect(output).toMatch(
      /^Of 4 acknowledged .* audit entry of 4\. Nothing that the logs acknowledge until \S+ is missing\.$/m,
    );
  },
  LIMIT_MS,
);

test(
  'without the number of servers the report cannot know it, and a number that does not fit is refused',
  async () => {
    expectUnproved(
      await report(both()),
      /NOT PROVED: The report cannot know whether there were more servers/,
    );
    expectUnproved(
      await report(both(), '--servers', '3'),
      /--servers says 3, and the logs show 2: host-one, host-two\. Give the logs of the others\./,
    );
    expectUnproved(await report(both(), '--servers', '1'), /and the logs show 2: .* Correct --servers\./);
    expect(await report(both(), '--servers', '0')).toMatchObject({ code: 1 });
  },
  LIMIT_MS,
);

test(
  'the log of one of two servers: requests that only the database has are in no log',
  async () => {
    expectUnproved(
      await report([logs.one], '--servers', '1'),
      /NOT PROVED: 2 requests with an audit entry of that time, for example [0-9a-f-]{36} at \S+, are in no log/,
    );
    await withClient(restored.ownerUrl, (client) =>
      client.query(
        `insert into installation.processes (id, name, encryption_keys, started_at, seen_at)
         values (gen_random_uuid(), 'main host-three pid 5', '{}', $1, $1), (gen_random_uuid(), 'worker host-four pid 5', '{}', $1, $1)`,
        [since],
      ),
    );
    const { code, output } = await report(both(), '--servers', '2');
    await withClient(restored.ownerUrl, (client) => client.query('delete from installation.processes'));
    expectUnproved({ code, output }, /The database knows a server on host-three in that time, and no log/);
    expect(output).not.toContain('host-four');
  },
  LIMIT_MS,
);

test(
  'a request of before the time that is in no log proves nothing missing, if the database has recorded the servers of that time',
  async () => {
    const early = logs.two.find(isCompleted)?.['reqId'];
    const texts = [logs.one, logs.two.filter(({ reqId }) => reqId !== early)];
    const args = ['--servers', '2', '--since', afterWork.toISOString()];
    expectUnproved(await report(texts, ...args), /NOT PROVED: 1 request with an audit entry of that time/);
    await withClient(restored.ownerUrl, (client) =>
      client.query(
        `insert into installation.processes (id, name, encryption_keys, started_at, seen_at)
         select gen_random_uuid(), 'main ' || host || ' pid 5', '{}', $1, $2 from unnest(array['host-one', 'host-two']) host`,
        [since, afterWork],
      ),
    );
    const later = await report(texts, ...args);
    const within = await report(texts, '--servers', '2');
    await withClient(restored.ownerUrl, (client) => client.query('delete from installation.processes'));
    expect(`${later.code}: ${later.output}`).toMatch(/^0: /);
    expect(later.output).toMatch(/^1 request with an audit entry of before \S+ is in no log, for example/m);
    // The same request is of the compared time here.
    expectUnproved(within, /NOT PROVED: 1 request with an audit entry of that time/);
  },
  LIMIT_MS,
);

test(
  'logs that end before the work of the database, with a time after their end, prove nothing',
  async () => {
    const firstMs = logs.one.find(isCompleted)?.time ?? 0;
    const cut = both((lines) => lines.filter(({ time }) => time < firstMs - 1).map(toOld));
    const result = await report(cut, '--servers', '2', '--since', afterWork.toISOString());
    expectUnproved(result, /0\.log ends at \S+, before --since\./);
    expect(result.output).toMatch(/ends at \S+, before the last request that the databases have, of /);
    expect(result.output).toMatch(/No acknowledged request was compared\./);
    // Only the second is cut.
    expectUnproved(
      await report([logs.one, cut[1] ?? []], '--servers', '2'),
      /1\.log ends at \S+, before the last request/,
    );
  },
  LIMIT_MS,
);

/** Moves a line back, so that it is earlier than the difference of two clocks. */
const toOld = (line: Line): Line => ({ ...line, time: line.time - 5_000 });

test(
  'a log that begins after the time, also within a file that another server begins',
  async () => {
    const part = (lines: Line[]) => lines.slice(lines.findIndex(isCompleted));
    expectUnproved(
      await report([part(logs.one), logs.two], '--servers', '2'),
      /0\.log begins at \S+, after --since\./,
    );
    expectUnproved(
      await report([[...logs.two, ...part(logs.one)]], '--servers', '2'),
      /The lines of host-one begin at \S+, after --since\./,
    );
  },
  LIMIT_MS,
);

test(
  'a log without requests of level info, from the beginning or since a restart',
  async () => {
    const quiet = (lines: Line[]) =>
      lines.filter((line) => !isCompleted(line)).map((line) => ({ ...line, level: 40 }));
    expectUnproved(await report(both(quiet), '--servers', '2'), /0\.log has no request of level info\./);
    const last = logs.one.filter(isCompleted).at(-1);
    const warned = { ...last, pid: 99, level: 40, msg: 'slow' };
    expectUnproved(
      await report([[...logs.one, warned as Line], logs.two], '--servers', '2'),
      /0\.log has no request of level info of host-one pid 99\. LOG_LEVEL must be info or debug\./,
    );
  },
  LIMIT_MS,
);

test(
  'a line that is cut may be an acknowledged request',
  async () => {
    const text = logs.one.map((line) => JSON.stringify(line)).join('\n');
    const cut = `${text}\n${JSON.stringify(logs.one.find(isCompleted)).slice(0, -10)}`;
    expectUnproved(
      await report([cut, logs.two], '--servers', '2'),
      /0\.log has 1 line of the service that cannot be read\./,
    );
  },
  LIMIT_MS,
);

test(
  'a time that is later than the end of the restored database hides no lost request',
  async () => {
    const last = logs.two.filter(isCompleted).at(-1);
    const lost = { ...last, reqId: 'lost', time: (last?.time ?? 0) + 1 } as Line;
    const texts = [logs.one, [...logs.two, lost]];
    const result = await report(texts, '--servers', '2', '--since', afterWork.toISOString());
    expect(result).toEqual({ code: 0, output: expect.stringContaining('The others are in the report.') });
    expect(result.output).not.toMatch(MISSING_NOTHING);
    expect(await readFile(join(folder, 'couriers.json'), 'utf8')).toContain('"lost"');
  },
  LIMIT_MS,
);
