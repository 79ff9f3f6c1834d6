import { readRow, readRows, type Queryable } from '../db/connections/rows.js';
import { SERVER } from '../db/connections/server-identity.js';
import type { Jobs } from './jobs.js';

/** The kinds of jobs that send something to couriers or fetch from them. They stay in the queue during a pause. */
const OUTBOUND_KINDS: ReadonlySet<string> = new Set<keyof Jobs>([
  'deliver',
  'sendPending',
  'sendManifestMail',
  'sendAccountMail',
  'sendBillMail',
  'sendNoticeMail',
  'tellCustomers',
  'checkIntegration',
  'syncCustomers',
  'scheduleCustomerSyncs',
]);

/** Returns the functions of the jobs that may run during a pause. */
export const withoutOutbound = <Tasks extends Record<string, unknown>>(tasks: Tasks): Partial<Tasks> =>
  // Removing properties makes the rest optional.
  Object.fromEntries(Object.entries(tasks).filter(([kind]) => !OUTBOUND_KINDS.has(kind))) as Partial<Tasks>;

export type OutboundPause = { since: Date; reason: string };

/** Returns the pause of outbound work, or undefined if there is none. */
export async function readPause(client: Queryable): Promise<OutboundPause | undefined> {
  const [pause] = await readRows<OutboundPause>(
    client,
    'select paused_at as since, paused_because as reason from installation.outbound where paused_at is not null',
  );
  return pause;
}

/** Pauses outbound work. A pause that exists keeps its time and reason. */
export async function pauseOutbound(client: Queryable, reason: string): Promise<void> {
  await client.query(
    'update installation.outbound set paused_at = now(), paused_because = $1 where paused_at is null',
    [reason],
  );
}

/** Resumes outbound work. The next process or heartbeat records the server that it then runs on. */
export async function resumeOutbound(client: Queryable): Promise<void> {
  await client.query(
    'update installation.outbound set paused_at = null, paused_because = null, server = null where paused_at is not null',
  );
}

export const RESTORED =
  'The database is on another server or timeline than before, as after a restore. See docs/restore.md.';

/** What a running worker remembers: the server, whether outbound work was paused there, and a position of its WAL. */
export type SeenServer = {
  server: string;
  isPaused: boolean;
  position: string;
  /** The position up to which the server has written its WAL to disk. A crash does not take it back. */
  flushed?: string;
};

type Standing = SeenServer & {
  /** The server on which outbound work last ran. Null before the first start and after a pause has been ended by hand. */
  recorded: string | null;
  /** Whether the server, before it was promoted, replayed the position that the worker remembers. */
  has_replayed: boolean;
  /** Whether the server has less WAL than the worker remembers. */
  is_behind: boolean;
};

/**
 * Records the server that the service runs on, and pauses outbound work if it is another one than before: after a restore the
 * data are older than what was sent. Workers call it with what they saw before, and only they can tell a promoted standby that
 * has lost nothing from a restored backup: the memory of a worker is not part of the database. See decision 0059.
 *
 * @returns what it has seen before it changed anything
 */
export async function followServer(client: Queryable, seen?: SeenServer): Promise<SeenServer> {
  const now = await readStanding(client, seen);
  const { server, recorded } = now;
  if (recorded === server) {
    if (seen && isOlder(now, seen)) await pauseOn(client, recorded);
    return now;
  }
  if (recorded === null) await recordServer(client, now, false);
  else if (seen && isPromoted(now, seen)) await recordServer(client, now, !seen.isPaused);
  else await pauseOn(client, recorded);
  return now;
}

/**
 * Returns whether the next start pauses outbound work, because the database is on another server than before. Undefined if the provider
 * of PostgreSQL does not show the server.
 */
export async function isOnOtherServer(client: Queryable): Promise<boolean | undefined> {
  try {
    const { recorded, server } = await readStanding(client);
    return recorded !== null && recorded !== server;
  } catch {
    return undefined;
  }
}

/** Pauses unless a worker has meanwhile found that the server is a promoted standby. */
async function pauseOn(client: Queryable, recorded: string): Promise<void> {
  await client.query(
    `update installation.outbound set paused_at = now(), paused_because = $1
     where paused_at is null and server = $2`,
    [RESTORED, recorded],
  );
}

/** The table has one row. */
const readStanding = (client: Queryable, seen?: SeenServer): Promise<Standing> =>
  readRow(
    client,
    `select ${SERVER} as server, o.server as recorded, o.paused_at is not null as "isPaused",
       pg_current_wal_insert_lsn()::text as position, pg_current_wal_flush_lsn()::text as flushed,
       coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) as has_replayed,
       coalesce(pg_current_wal_insert_lsn() < $2::pg_lsn, false) as is_behind
     from installation.outbound o`,
    [seen?.position ?? null, seen?.flushed ?? null],
  );

/**
 * Whether the database is older than the one that the worker saw, although its rows come from the server that it runs on: somebody has
 * started an old data folder or a snapshot of it. Another worker may have recorded a promoted standby, whose timeline is later.
 */
function isOlder({ server, is_behind: isBehind }: Standing, seen: SeenServer): boolean {
  const [before, now] = [toTimeline(seen.server), toTimeline(server)];
  if (before.system !== now.system) return true;
  return now.timeline < before.timeline || (now.timeline === before.timeline && isBehind);
}

/**
 * Whether the server is a standby of the one that the worker saw, was promoted once since then, and has everything that the
 * worker saw. Its rows must come from that server too, because numbers of timelines are not unique.
 */
function isPromoted({ server, recorded, has_replayed: hasReplayed }: Standing, seen: SeenServer): boolean {
  const [before, now] = [seen.server, server].map(toTimeline);
  return (
    hasReplayed &&
    recorded === seen.server &&
    before?.system === now?.system &&
    now?.timeline === (before?.timeline ?? NaN) + 1
  );
}

function toTimeline(server: string): { system: string | undefined; timeline: number } {
  const [system, timeline = ''] = server.split('/');
  return { system, timeline: Number.parseInt(timeline, 16) };
}

/** @param endsPause whether to end the pause that a process has begun because it could not tell why the server is another one */
async function recordServer(
  client: Queryable,
  { server, recorded }: Standing,
  endsPause: boolean,
): Promise<void> {
  const isEnding = '($3 and paused_because = $4)';
  await client.query(
    `update installation.outbound
     set server = $1,
       paused_at = case when ${isEnding} then null else paused_at end,
       paused_because = case when ${isEnding} then null else paused_because end
     where server is not distinct from $2`,
    [server, recorded, endsPause, RESTORED],
  );
}
