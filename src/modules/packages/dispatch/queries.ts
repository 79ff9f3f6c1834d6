import type { QueryOf } from '../../../platform/contract/types.js';
import { allOf, ownRows } from '../../../platform/db/filters.js';
import type { Dispatch } from '../../../platform/db/models/types.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { columns } from '../../../platform/db/columns.js';

const DISPATCH = columns('Dispatch', 'd', [
  'id',
  'courierId',
  'requestedBy',
  'requestedAt',
  'selected',
  'queued',
]);

export type DispatchQuery = QueryOf<'listDispatches'>;

/** `courierId` is null if staff requested the dispatch. */
export type DispatchRow = Omit<Dispatch, 'tenantId'> & {
  /** The number of packages per status of their synchronisation. A status without packages is absent. */
  counts: Partial<Record<'queued' | 'sending' | 'sent' | 'failed', number>>;
};

export function insertDispatch(
  { tenantId, caller }: UserScope,
  { id, selected, queued }: Pick<Dispatch, 'id' | 'selected' | 'queued'>,
): Sql {
  return sql`insert into dispatches (tenant_id, id, courier_id, requested_by, selected, queued)
    values (${tenantId}::uuid, ${id}::uuid, ${caller.courierId}::uuid, ${caller.userId}::uuid, ${selected}::int,
      ${queued}::int)`;
}

/**
 * Selects the dispatches before `query.before`, newest first, and one more than `limit` to detect a next
 * page.
 */
export function pageOfDispatches(ctx: UserScope, query: DispatchQuery): Sql<DispatchRow> {
  const conditions = allOf(
    ownRows(ctx, 'd'),
    query.dispatch_id && sql`d.id = ${query.dispatch_id}::uuid`,
    query.before && sql`d.id < ${query.before}::uuid`,
  );
  return sql`
    select ${DISPATCH}, s.counts
    from (
      select d.* from dispatches d where ${conditions} order by d.id desc limit ${query.limit}::int + 1
    ) d
    cross join lateral (
      select coalesce(jsonb_object_agg(c.status, c.total), '{}') as counts from (
        select s.status, count(*)::int as total from package_syncs s
        where ${ownRows(ctx, 's')} and s.tenant_id = d.tenant_id and s.dispatch_id = d.id group by s.status
      ) c
    ) s
    order by d.id desc`;
}
