import type { SystemCaller, UserCaller } from '../../../platform/identity/callers.js';
import type { DataOf, QueryOf } from '../../../platform/contract/types.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { join, raw, sql, type Db, type Sql } from '../../../platform/db/transaction.js';

type Run = DataOf<'syncCustomers'>;

export type RunRow = Omit<Run, 'problems' | 'created_at' | 'started_at' | 'finished_at'> & {
  problems: Run['problems'] | null;
  created_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
};

/**
 * Selects the courier and whether its URL for customers is set. Returns no row if the courier does not exist.
 */
export function courierOfSync(db: Db, caller: UserCaller, courierId: string): Sql {
  return sql`select c.api_url_get_customers is not null as has_url from couriers c
    where ${tenantRows(db, caller, 'c')} and c.id = ${courierId}::uuid`;
}

/** Returns no row if the courier already has an open run. */
export function insertRun(caller: UserCaller, id: string, courierId: string): Sql {
  return sql`insert into customer_sync_runs (tenant_id, id, courier_id, origin, requested_by)
    values (${caller.tenantId}::uuid, ${id}::uuid, ${courierId}::uuid, 'request', ${caller.userId}::uuid)
    on conflict (tenant_id, courier_id) where status in ('queued', 'running') do nothing
    returning id`;
}

/** Inserts a run for every active courier that has a URL and no open run. */
export function insertScheduledRuns(db: Db, caller: SystemCaller): Sql {
  return sql`insert into customer_sync_runs (tenant_id, id, courier_id, origin)
    select c.tenant_id, new_id(), c.id, 'schedule' from couriers c
    where ${tenantRows(db, caller, 'c')} and c.is_active and c.api_url_get_customers is not null
    order by c.id
    on conflict (tenant_id, courier_id) where status in ('queued', 'running') do nothing
    returning id`;
}

export function openRunOf(db: Db, caller: UserCaller, courierId: string): Sql {
  return sql`select r.id from customer_sync_runs r
    where ${ownRows(db, caller, 'r')} and r.courier_id = ${courierId}::uuid and r.status in ('queued', 'running')`;
}

export function oneRun(db: Db, caller: UserCaller, id: string): Sql {
  return withCourierName(
    db,
    caller,
    sql`select r.* from customer_sync_runs r where ${ownRows(db, caller, 'r')} and r.id = ${id}::uuid`,
  );
}

/** Selects a page and one row more, newest first. Ids are ordered by creation time. */
export function pageOfRuns(db: Db, caller: UserCaller, query: QueryOf<'listCustomerSyncs'>): Sql {
  const conditions = [ownRows(db, caller, 'r')];
  // A courier only ever sees its own runs, whatever courier_id says.
  if (caller.courierId === null && query.courier_id)
    conditions.push(sql`r.courier_id = ${query.courier_id}::uuid`);
  if (query.status) conditions.push(sql`r.status = ${query.status}`);
  if (query.before) conditions.push(sql`r.id < ${query.before}::uuid`);
  return withCourierName(
    db,
    caller,
    sql`select r.* from customer_sync_runs r where ${join(conditions, ' and ')}
      order by r.id desc limit ${query.limit}::integer + 1`,
  );
}

const withCourierName = (db: Db, caller: UserCaller, runs: Sql): Sql =>
  sql`select r.id as run_id, r.courier_id, c.name as courier_name, r.origin, r.status, r.http_status, r.received,
      r.created, r.updated, r.unchanged, r.skipped, r.problems, r.error, r.created_at, r.started_at, r.finished_at
    from (${runs}) as r
    join couriers c on ${tenantRows(db, caller, 'c')} and c.tenant_id = r.tenant_id and c.id = r.courier_id
    order by r.id desc`;

export type StartedRun = {
  courier_id: string;
  url: string | null;
  api_token_cipher: string | null;
};

/** Starts an open run, or restarts it after a worker crashed. Returns the courier's URL and token. */
export function startRun(db: Db, caller: SystemCaller, id: string): Sql {
  return sql`update customer_sync_runs r set status = 'running', started_at = now()
    from couriers c
    where ${tenantRows(db, caller, 'r')} and r.id = ${id}::uuid and r.status in ('queued', 'running')
      and c.tenant_id = r.tenant_id and c.id = r.courier_id
    returning r.courier_id, c.api_url_get_customers as url, c.api_token_cipher`;
}

/** Locks the run until the end of the transaction. Returns no row if it is no longer running. */
export function lockRunning(db: Db, caller: SystemCaller, id: string): Sql {
  return sql`select from customer_sync_runs r
    where ${tenantRows(db, caller, 'r')} and r.id = ${id}::uuid and r.status = 'running' for update`;
}

/** The result of a run. Omitted fields are stored as null. */
export type RunEnd = {
  httpStatus: number | null;
  error: string | null;
  counts?: SyncCounts;
  problems?: object[];
};
export type SyncCounts = {
  received: number;
  created: number;
  updated: number;
  unchanged: number;
  skipped: number;
};

/** Ends a running run, as failed if there is an error. Returns no row if it was already ended. */
export function endRun(db: Db, caller: SystemCaller, id: string, end: RunEnd): Sql {
  const { httpStatus, error, counts, problems = [] } = end;
  return sql`update customer_sync_runs r set status = ${error === null ? 'succeeded' : 'failed'},
      http_status = ${httpStatus}, error = ${error}, finished_at = now(), received = ${counts?.received ?? null},
      created = ${counts?.created ?? null}, updated = ${counts?.updated ?? null},
      unchanged = ${counts?.unchanged ?? null}, skipped = ${counts?.skipped ?? null},
      problems = ${JSON.stringify(problems)}::jsonb
    where ${tenantRows(db, caller, 'r')} and r.id = ${id}::uuid and r.status = 'running'
    returning r.id`;
}

/** Fails the runs that have been open for so long that no worker can still be processing them. */
export function failAbandoned(db: Db, caller: SystemCaller, afterMinutes: number, error: string): Sql {
  return sql`update customer_sync_runs r set status = 'failed', finished_at = now(), error = ${error}
    where ${tenantRows(db, caller, 'r')} and r.status in ('queued', 'running')
      and coalesce(r.started_at, r.created_at) < now() - ${raw(String(afterMinutes))} * interval '1 minute'
    returning r.id`;
}
