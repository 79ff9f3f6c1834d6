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

/** Whether the courier exists, and whether it has said where its customers are. */
export function courierOfSync(db: Db, caller: UserCaller, courierId: string): Sql {
  return sql`select c.api_url_get_customers is not null as has_url from couriers c
    where ${tenantRows(db, caller, 'c')} and c.id = ${courierId}::uuid`;
}

/** Answers nothing where one of the courier's is open already. */
export function insertRun(caller: UserCaller, id: string, courierId: string): Sql {
  return sql`insert into customer_sync_runs (tenant_id, id, courier_id, origin, requested_by)
    values (${caller.tenantId}::uuid, ${id}::uuid, ${courierId}::uuid, 'request', ${caller.userId}::uuid)
    on conflict (tenant_id, courier_id) where status in ('queued', 'running') do nothing
    returning id`;
}

/** A run for every active courier that has a URL and none that is open. */
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

/** A page and one more, the newest first: ids are in the order of their making. */
export function pageOfRuns(db: Db, caller: UserCaller, query: QueryOf<'listCustomerSyncs'>): Sql {
  const conditions = [ownRows(db, caller, 'r')];
  // couriers have one account, whatever they ask for
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

/** Begins an open run, or begins it again when the worker that had it is gone; answers where the customers are. */
export function startRun(db: Db, caller: SystemCaller, id: string): Sql {
  return sql`update customer_sync_runs r set status = 'running', started_at = now()
    from couriers c
    where ${tenantRows(db, caller, 'r')} and r.id = ${id}::uuid and r.status in ('queued', 'running')
      and c.tenant_id = r.tenant_id and c.id = r.courier_id
    returning r.courier_id, c.api_url_get_customers as url, c.api_token_cipher`;
}

/** Holds the run to the end of the transaction; nothing, when it is no longer running. */
export function lockRunning(db: Db, caller: SystemCaller, id: string): Sql {
  return sql`select from customer_sync_runs r
    where ${tenantRows(db, caller, 'r')} and r.id = ${id}::uuid and r.status = 'running' for update`;
}

/** What a run ends with; what is left out stays null. */
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

/** It has failed where there is an error. Answers nothing when somebody else has ended it. */
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

/** Fails what has been open too long for anybody to work on it still. */
export function failAbandoned(db: Db, caller: SystemCaller, afterMinutes: number, error: string): Sql {
  return sql`update customer_sync_runs r set status = 'failed', finished_at = now(), error = ${error}
    where ${tenantRows(db, caller, 'r')} and r.status in ('queued', 'running')
      and coalesce(r.started_at, r.created_at) < now() - ${raw(String(afterMinutes))} * interval '1 minute'
    returning r.id`;
}
