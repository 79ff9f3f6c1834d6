import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readIdentity } from '../config/command-settings.js';
import { ConfigError, readOwnerUrl } from '../config/config.js';
import { inEachTenant } from '../platform/context/each-tenant.js';
import type { SystemContext } from '../platform/context/request-context.js';
import { withClient } from '../platform/db/connections/roles.js';
import { readRunningDatabase } from '../platform/db/connections/server-identity.js';
import { withServiceRole } from '../platform/db/open-database.js';
import { harmless } from '../platform/files/csv-cells.js';
import { writeCsv } from '../platform/files/csv.js';
import { readPause, RESTORED, type OutboundPause } from '../platform/queue/outbound-pause.js';
import {
  describeEarlier,
  describeLogs,
  findGaps,
  knownServers,
  timeOfId,
  type Given,
  type Known,
} from './restore-report/coverage.js';
import {
  assertIsLog,
  readLog,
  requestsBefore,
  type Log,
  type LoggedRequest,
} from './restore-report/from-logs.js';
import {
  auditedRequests,
  couriersOf,
  doneSince,
  existingRows,
  lastRequest,
  nameOfTenant,
  recordedRequests,
  type AuditedRequest,
  type CourierRow,
  type LostRow,
} from './restore-report/queries.js';
import {
  COLUMNS,
  feedLine,
  courierOf,
  requestLine,
  rowLine,
  summarise,
  withoutRepeated,
  type ReportLine,
} from './restore-report/report.js';
import { assertOwnDatabase } from '../startup/database-owner.js';
import { assertOwnerConnection } from './run/owner.js';
import { writePrivately } from './run/private-files.js';
import { runScript } from './run/script.js';
import { timeOf } from './run/times.js';
import { commandLine } from '../config/commands.js';

// A script must not take such a report for a proof.
const UNPROVED = 2;

/** The audit log is compared with the logs from this long before `--since`. */
const IDS_BEFORE_MS = 600_000;

const USAGE = `${commandLine('restore-report --since 2026-12-01T10:00:00Z --out FOLDER')} [--until TIME] [--lost postgres://...]... [--log FILE]... [--servers NUMBER]
--servers is the number of hosts, containers or pods that ran servers in that time.
The exit status is 0 if the logs of all servers were compared, ${UNPROVED} if the report is written but does not show whether everything acknowledged is there, and 1 if there is no report.
It is ${UNPROVED} without --log or --servers, if a log does not have the whole time, and if requests were left out because of --until. A line NOT PROVED says why. With 0, the report can still list lost requests: read it.`;

// npm run restore:report: lists by courier what the lost server did after the restore point, and what couriers must be told.
// DATABASE_OWNER_URL names the restored database. `--lost` names the lost one if it can still be read, and may be given once per lost server.
// `--log` names logs of its servers.
// The logs may go on after the restore: `--until` is the time at which the restored server started. Without it, that is the time of the pause.
// A server or worker that starts on a restored database records that pause, so an earlier `--until` is refused.
await runScript(async (print) => {
  const { values } = parseArgs({
    options: {
      since: { type: 'string' },
      until: { type: 'string' },
      out: { type: 'string' },
      lost: { type: 'string', multiple: true, default: [] },
      log: { type: 'string', multiple: true, default: [] },
      servers: { type: 'string' },
    },
  });
  if (!values.out || values.since === undefined) throw new Error(USAGE);
  const since = timeOf(values.since);
  if (since.getTime() > Date.now()) throw new Error(`${values.since} is in the future.`);
  const given = values.until === undefined ? undefined : timeOf(values.until);
  if (given && given.getTime() <= since.getTime())
    throw new Error(`--until ${values.until} is not later than --since ${values.since}.`);
  if (values.servers !== undefined && !/^[1-9]\d{0,3}$/.test(values.servers))
    throw new Error(`--servers ${values.servers} is not a number of servers.`);
  const paths = [...new Set(values.log)];
  for (const path of paths) await assertIsLog(path);
  const url = readOwnerUrl();
  await assertOwnDatabase(url, readIdentity());
  for (const each of values.lost) await assertLostDatabase(each);
  await assertOwnerConnection();
  const pause = paths.length === 0 ? undefined : await withClient(url, readPause);
  const until = paths.length === 0 ? since : (given ?? timeOfPause(pause, since));
  const early = given && describeEarly(given, pause);
  const last = await findLast(url, until);
  const span = {
    // What the restored database has last is compared too, so that a later --since hides nothing.
    from: new Date(Math.min(since.getTime(), last?.at.getTime() ?? Infinity)),
    until,
    idsFrom: new Date(since.getTime() - IDS_BEFORE_MS),
  };
  const servers = values.servers === undefined ? undefined : Number(values.servers);
  const coverage: Given = { since, span, servers };
  const logs: Log[] = [];
  for (const path of paths) logs.push(await readLog(path, span));
  const requests = requestsBefore(logs, until);
  const missing = await leaveOutRecorded(url, requests, span.from);
  const known = logs.length === 0 ? undefined : await readKnown(url, last, values.lost, coverage);
  const gaps = known ? findGaps(logs, known, coverage, requests.length) : [];
  const lines = await collect(url, values.lost, missing, since);
  // The report has customers' and couriers' data.
  await mkdir(values.out, { recursive: true, mode: 0o700 });
  await writePrivately(join(values.out, 'couriers.json'), `${JSON.stringify(lines, undefined, 2)}\n`);
  await writePrivately(
    join(values.out, 'couriers.csv'),
    await writeCsv(COLUMNS, lines, (line) => COLUMNS.map((column) => harmless(line[column]))),
  );
  for (const line of summarise(lines)) print(line);
  const later = logs.flatMap((log) => log.requests).filter(({ at }) => at >= until).length;
  if (logs.length > 0)
    print(
      `The logs count until ${until.toISOString()}, ${given ? 'as --until says' : 'when the restored server started'}. Later requests that are not reported: ${later}.`,
    );
  if (early) print(early);
  if (known) {
    for (const line of [...describeLogs(logs, coverage), ...describeEarlier(logs, known, coverage)])
      print(line);
    for (const gap of gaps) print(`NOT PROVED: ${gap}`);
    print(
      `Of ${requests.length} acknowledged requests in the logs since ${span.from.toISOString()}, the restored database has an audit entry of ${requests.length - missing.length}. ${describeMissing(missing.length, given ? later : 0, gaps, endOf(logs, until))}`,
    );
  } else if (values.lost.length > 0)
    print(
      'No log was given, so this does not show that nothing is lost: a lost server whose WAL is damaged ends where the restored one does. Give the logs of the service with --log.',
    );
  else
    print(
      `Nothing of the lost server was given, so this does not show that nothing is lost. Ask each courier for its work since ${since.toISOString()}.`,
    );
  if (logs.length === 0 || gaps.length > 0 || (given && later > 0)) process.exitCode = UNPROVED;
}, USAGE);

async function collect(
  url: string,
  lostUrls: string[],
  requests: LoggedRequest[],
  since: Date,
): Promise<ReportLine[]> {
  for (const lostUrl of lostUrls) await assertOtherDatabase(url, lostUrl);
  const restored = await inTenantsOf(url, (ctx) => ctx.read([couriersOf(ctx), nameOfTenant(ctx)]));
  const couriers = restored.flatMap(([, [rows]]) => rows);
  const slugs = new Map(restored.map(([tenantId, [, names]]) => [tenantId, names[0]?.slug ?? tenantId]));
  const lost = [];
  for (const lostUrl of lostUrls) lost.push(await readLost(lostUrl, url, since));
  const lostCouriers = lost.flatMap(({ couriers: each }) => each);
  return [
    ...couriers.map((courier) =>
      feedLine(courier, newest(lostCouriers.filter(({ id }) => id === courier.id)), since),
    ),
    ...withoutRepeated(lost.flatMap(({ lines: each }) => each)),
    ...requests.map((request) =>
      // The lost server knows keys and couriers of after the restore point.
      requestLine(
        request,
        courierOf(request, [...couriers, ...lostCouriers]),
        slugs.get(request.tenantId ?? ''),
      ),
    ),
  ];
}

/** Of several lost servers, the one that had assigned the highest sequence number. */
function newest(couriers: CourierRow[]): CourierRow | undefined {
  return couriers.toSorted((one, other) => one.lastSequence - other.lastSequence).at(-1);
}

/** Leaves out the requests of which the restored database has an audit entry. Their line in the log follows their transaction. */
async function leaveOutRecorded(
  url: string,
  requests: LoggedRequest[],
  since: Date,
): Promise<LoggedRequest[]> {
  if (requests.length === 0) return [];
  const ids = requests.map(({ requestId }) => requestId);
  const found = await inTenantsOf(url, (ctx) => ctx.read([recordedRequests(ctx, ids, since)]));
  const recorded = new Set(found.flatMap(([, [rows]]) => rows.map(({ id }) => id)));
  return requests.filter(({ requestId }) => !recorded.has(requestId));
}

/**
 * Refuses a lost server of another deployment. It may have keys of before a replacement: it is evidence, so nothing must be changed in it.
 *
 * @throws Error that names the URL, without its password
 */
async function assertLostDatabase(url: string): Promise<void> {
  const named = `--lost ${withoutPassword(url)}`;
  try {
    await assertOwnDatabase(url, { ...readIdentity(), keys: {} });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (!(error instanceof ConfigError)) throw new Error(`${named}: ${reason}`, { cause: error });
    // What follows says how to change the database.
    const [what = reason] = reason.split(/(?<=nothing was changed)\. /);
    throw new Error(
      `${named} is not read: ${what.replace(/\.$/, '')}. Give the URL of the lost server of this deployment, and change nothing in it.`,
      { cause: error },
    );
  }
}

function withoutPassword(text: string): string {
  if (!URL.canParse(text)) return 'with a faulty URL';
  const { protocol, username, host, pathname } = new URL(text);
  return `${protocol}//${username && `${username}@`}${host}${pathname}`;
}

/** Returns the last request before a time of which a database has an audit entry. */
async function findLast(url: string, until: Date): Promise<AuditedRequest | undefined> {
  const found = await inTenantsOf(url, (ctx) => ctx.read([lastRequest(ctx, until)]));
  return lastOf(found.flatMap(([, [rows]]) => rows));
}

function lastOf(requests: AuditedRequest[]): AuditedRequest | undefined {
  return requests.toSorted((one, other) => timeOfId(one.id) - timeOfId(other.id)).at(-1);
}

/**
 * Reads what the databases know of the time that the logs should cover. The lost ones have what came after the restore point.
 *
 * @param last the last request of the restored database
 */
async function readKnown(
  url: string,
  last: AuditedRequest | undefined,
  lostUrls: string[],
  { since, span }: Given,
): Promise<Known> {
  const ofLost = await Promise.all(lostUrls.map((each) => findLast(each, span.until)));
  const lasts = [last, ...ofLost].flatMap((request) => request ?? []);
  const known: Known = { last: lastOf(lasts), requests: [], servers: [] };
  for (const each of [url, ...lostUrls]) {
    const found = await inTenantsOf(each, (ctx) =>
      ctx.read([auditedRequests(ctx, span.idsFrom, span.until)]),
    );
    known.requests.push(...found.flatMap(([, [rows]]) => rows));
    known.servers.push(...(await knownServers(each, since, span.until)));
  }
  return known;
}

/** Returns the time until which all logs have lines, and at most that of the first start after the restore. */
function endOf(logs: Log[], until: Date): Date {
  return new Date(Math.min(until.getTime(), ...logs.map(({ to }) => to.getTime())));
}

/**
 * @param leftOut the number of requests that were left out because of `--until`, and are lost if that time is wrong
 * @param gaps why the logs do not show everything
 * @param end the time until which the logs have lines
 */
function describeMissing(missing: number, leftOut: number, gaps: string[], end: Date): string {
  const others = missing === 0 ? '' : 'The others are in the report. ';
  if (leftOut > 0)
    return `${others}The ${leftOut} later requests were not compared: if the restored server started later than --until says, they may be lost.`;
  if (gaps.length > 0) return `${others}The logs do not show whether more is lost: see NOT PROVED.`;
  return missing === 0
    ? `Nothing that the logs acknowledge until ${end.toISOString()} is missing.`
    : others.trim();
}

/** Returns when the restored server paused outbound work, with its first start. @throws Error if the pause does not tell that time */
function timeOfPause(pause: OutboundPause | undefined, since: Date): Date {
  if (pause && pause.since.getTime() > since.getTime()) return pause.since;
  const why = pause ? 'was paused before --since' : 'is not paused any more';
  throw new Error(
    `Outbound work ${why}, so the pause does not tell when the restored server started. Give that time with --until: later requests in the logs are not lost.`,
  );
}

/**
 * Returns a warning if outbound work was paused by hand after `--until`.
 *
 * @throws Error if the restored server itself paused it then: it started no earlier, and the requests between the two times are of the lost one
 */
function describeEarly(given: Date, pause: OutboundPause | undefined): string | undefined {
  if (!pause || pause.since.getTime() <= given.getTime()) return undefined;
  const times = `--until ${given.toISOString()} is before ${pause.since.toISOString()}`;
  if (pause.reason === RESTORED)
    throw new Error(
      `${times}, when the first process that started on the restored server paused outbound work. Requests between these times are of the lost server. Leave --until out.`,
    );
  return `WARNING: ${times}, when outbound work was paused by hand. If the first server or worker started later than --until says, acknowledged requests between these times are lost, and this report does not have them.`;
}

/** @throws Error if both are the same: nothing would be missing, whatever was lost */
async function assertOtherDatabase(url: string, lostUrl: string): Promise<void> {
  const [restored, lost] = await Promise.all(
    [url, lostUrl].map((each) => withClient(each, readRunningDatabase)),
  );
  if (restored === lost)
    throw new Error(
      '--lost leads to the restored database, that of DATABASE_OWNER_URL. Give the URL of the lost one.',
    );
}

/** Reads what the lost server did, and leaves out what the restored database has. A webhook stays, because it was delivered. */
async function readLost(lostUrl: string, url: string, since: Date) {
  const read = await inTenantsOf(lostUrl, async (ctx) => ctx.read([couriersOf(ctx), doneSince(ctx, since)]));
  const couriers = read.flatMap(([, [rows]]) => rows);
  const lines = await inTenantsOf(url, async (ctx) => {
    const [, [own = [], rows = []] = []] = read.find(([tenantId]) => tenantId === ctx.tenantId) ?? [];
    const missing = await leaveOutExisting(ctx, rows);
    const [first] = own;
    const codes = new Map(own.map(({ id, code }: CourierRow) => [id, code]));
    return missing.map((row) => rowLine(row, first?.tenant ?? '', codes.get(row.courierId ?? '') ?? ''));
  });
  return { couriers, lines: lines.flatMap(([, each]) => each) };
}

async function leaveOutExisting(ctx: SystemContext, rows: LostRow[]): Promise<LostRow[]> {
  const existing = new Set<string>();
  for (const kind of ['mail', 'prealert', 'package', 'event', 'change'] as const) {
    const ids = rows.filter((row) => row.kind === kind).map(({ rowId }) => rowId);
    const [found] = await ctx.read([existingRows(ctx, kind, ids)]);
    for (const { id } of found) existing.add(`${kind} ${id}`);
  }
  return rows.filter(({ kind, rowId }) => !existing.has(`${kind} ${rowId}`));
}

/** Calls `work` in the scope of each tenant, with the rights of the service. Returns the results by the tenant's id. */
function inTenantsOf<Result>(
  url: string,
  work: (ctx: SystemContext) => Promise<Result>,
): Promise<[tenantId: string, result: Result][]> {
  return withServiceRole(url, (db) =>
    inEachTenant(db, 'restore report', async (ctx) => [ctx.tenantId, await work(ctx)]),
  );
}
