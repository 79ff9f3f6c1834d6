import type { Jobs } from './jobs.js';

/** The kinds of jobs that send something to couriers or fetch from them. They stay in the queue during a pause. */
const OUTBOUND_KINDS: ReadonlySet<string> = new Set<keyof Jobs>([
  'deliver',
  'sendManifestMail',
  'sendAccountMail',
  'syncCustomers',
  'scheduleCustomerSyncs',
]);

/** Returns the functions of the jobs that may run during a pause. */
export const withoutOutbound = <Tasks extends Record<string, unknown>>(tasks: Tasks): Partial<Tasks> =>
  // Removing properties makes the rest optional.
  Object.fromEntries(Object.entries(tasks).filter(([kind]) => !OUTBOUND_KINDS.has(kind))) as Partial<Tasks>;

export type OutboundPause = { since: Date; reason: string };

/** A connection or a pool. */
type Queryable = { query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }> };

/** Returns the pause of outbound work, or undefined if there is none. */
export async function readPause(client: Queryable): Promise<OutboundPause | undefined> {
  const { rows } = await client.query(
    'select paused_at as since, paused_because as reason from installation.outbound where paused_at is not null',
  );
  // The statement selects exactly these columns.
  return rows[0] as OutboundPause | undefined;
}

/** Pauses outbound work. A pause that exists keeps its time and reason. */
export async function pauseOutbound(client: Queryable, reason: string): Promise<void> {
  await client.query(
    'update installation.outbound set paused_at = now(), paused_because = $1 where paused_at is null',
    [reason],
  );
}

export async function resumeOutbound(client: Queryable): Promise<void> {
  await client.query('update installation.outbound set paused_at = null, paused_because = null');
}

// The first eight digits of the name of the current WAL file are the timeline. pg_control_checkpoint() shows it only after the
// first checkpoint.
const SERVER = `(select system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) from pg_control_system())`;

export const RESTORED =
  'The database is on another server or timeline than before, as after a restore. See docs/restore.md.';

/**
 * Records the server that the service runs on, at the start of a process. Pauses outbound work if it is another one than before:
 * the data are older than what was sent.
 */
export async function pauseIfRestored(client: Queryable): Promise<void> {
  await client.query(
    `with now_on as materialized (select ${SERVER} as server)
     update installation.outbound o
     set server = now_on.server,
       paused_at = case when o.server is null then o.paused_at else coalesce(o.paused_at, now()) end,
       paused_because = case when o.server is null then o.paused_because else coalesce(o.paused_because, $1) end
     from now_on where o.server is distinct from now_on.server`,
    [RESTORED],
  );
}

/** Records the server that a running worker sees. After a failover it is the promoted standby, which is no reason to pause. */
export async function followServer(client: Queryable): Promise<void> {
  await client.query(
    `with now_on as materialized (select ${SERVER} as server)
     update installation.outbound o set server = now_on.server from now_on where o.server <> now_on.server`,
  );
}
