import type { components } from '../../../../generated/contract.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../../platform/db/transaction.js';
import type { EventRow } from './event-view.js';

export type FeedRow = EventRow<components['schemas']['Event']['type']>;

/** Bigints are text. */
export type FeedRange = { first_sequence: string | null; last_sequence: string };

/**
 * Selects the first and last sequence of the courier's events. Returns no row if the courier does not exist.
 */
export function rangeOfEvents(db: Db, caller: UserCaller, courierId: string): Sql {
  return sql`
    select coalesce(k.last_sequence, 0) as last_sequence, (
        select e.sequence from events e
        where ${ownRows(db, caller, 'e')} and e.tenant_id = c.tenant_id and e.courier_id = c.id and e.sequence > 0
        order by e.sequence limit 1
      ) as first_sequence
    from couriers c
    left join event_counters k on ${ownRows(db, caller, 'k')} and k.tenant_id = c.tenant_id and k.courier_id = c.id
    where ${tenantRows(db, caller, 'c')} and c.id = ${courierId}::uuid`;
}

/** Selects one event more than the limit to detect a next page. Excludes tests, which have no sequence. */
export function eventsAfter(
  db: Db,
  caller: UserCaller,
  courierId: string,
  { after, limit }: { after: number; limit: number },
): Sql {
  return sql`
    select e.id, e.sequence, e.type, e.data, e.occurred_at from events e
    where ${ownRows(db, caller, 'e')} and e.courier_id = ${courierId}::uuid and e.sequence > ${after}::bigint
    order by e.sequence limit ${limit}::int + 1`;
}
