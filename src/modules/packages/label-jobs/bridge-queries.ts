import { tenantRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';

/** A bridge asks each second. It is noted at most once in this time, so that an idle station writes little. */
const NOTE_SECONDS = 30;

/** A station has a bridge if one was noted within this time. */
const ACTIVE_SECONDS = 120;

/** Notes that a bridge of the station is running. Part of a statement, as `with bridge as (...)`. */
export const noteBridge = (ctx: UserScope, station: string): Sql =>
  sql`insert into label_bridges (tenant_id, station, seen_at)
    select ${ctx.tenantId}::uuid, named.station, now() from (select ${station}::text as station) named
    where not exists (select from label_bridges b where ${tenantRows(ctx, 'b')} and b.station = named.station
      and b.seen_at > now() - make_interval(secs => ${NOTE_SECONDS}::int))
    on conflict (tenant_id, station) do update set seen_at = excluded.seen_at`;

/** Whether a bridge serves the station. Null if no station is given. */
export const bridgeOf = (ctx: UserScope, station: string | null): Sql<{ hasBridge: boolean | null }> =>
  sql`select case when ${station}::text is not null then exists (select from label_bridges b
      where ${tenantRows(ctx, 'b')} and b.station = ${station}::text
        and b.seen_at > now() - make_interval(secs => ${ACTIVE_SECONDS}::int)) end as "hasBridge"`;
