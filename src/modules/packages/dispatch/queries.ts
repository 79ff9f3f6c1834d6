import type { UserCaller } from '../../../platform/identity/callers.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { ownRows } from '../../../platform/db/filters.js';
import { join, sql, type Db, type Sql } from '../../../platform/db/transaction.js';

export type DispatchQuery = QueryOf<'listDispatches'>;

export type DispatchRow = {
  id: string;
  /** Null if staff requested the dispatch. */
  courier_id: string | null;
  requested_by: string;
  requested_at: Date;
  selected: number;
  queued: number;
  /** The number of packages per state. States without packages are absent. */
  standing: Partial<Record<'queued' | 'sending' | 'sent' | 'failed', number>>;
};

export function insertDispatch(
  caller: UserCaller,
  { id, selected, queued }: { id: string; selected: number; queued: number },
): Sql {
  return sql`insert into dispatches (tenant_id, id, courier_id, requested_by, selected, queued)
    values (${caller.tenantId}::uuid, ${id}::uuid, ${caller.courierId}::uuid, ${caller.userId}::uuid, ${selected}::int,
      ${queued}::int)`;
}

/**
 * Selects the dispatches before `query.before`, newest first, and one more than `limit` to detect a next
 * page.
 */
export function pageOfDispatches(db: Db, caller: UserCaller, query: DispatchQuery): Sql {
  const conditions = [ownRows(db, caller, 'd')];
  if (query.dispatch_id) conditions.push(sql`d.id = ${query.dispatch_id}::uuid`);
  if (query.before) conditions.push(sql`d.id < ${query.before}::uuid`);
  return sql`
    select d.id, d.courier_id, d.requested_by, d.requested_at, d.selected, d.queued, s.standing
    from (
      select d.* from dispatches d where ${join(conditions, ' and ')} order by d.id desc limit ${query.limit}::int + 1
    ) d
    cross join lateral (
      select coalesce(jsonb_object_agg(c.status, c.total), '{}') as standing from (
        select s.status, count(*)::int as total from package_syncs s
        where ${ownRows(db, caller, 's')} and s.tenant_id = d.tenant_id and s.dispatch_id = d.id group by s.status
      ) c
    ) s
    order by d.id desc`;
}
