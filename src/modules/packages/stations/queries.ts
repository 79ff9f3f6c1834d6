import type { QueryOf } from '../../../platform/contract/types.js';
import { tenantRows } from '../../../platform/db/filters.js';
import { limitTo } from '../../../platform/db/pages.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { isBridgeActive } from '../label-jobs/claim-queries.js';
import { STATUS_NOW } from '../label-jobs/queries.js';

export type StationQuery = QueryOf<'listStations'>;

export type StationRow = {
  station: string;
  lastScanAt: Date | null;
  lastScanBy: string | null;
  bridgeSeenAt: Date | null;
  hasBridge: boolean;
  waitingLabels: number;
  failedLabels: number;
};

/** The scans that are looked at. Nothing has the stations of all scans in an index, and a scan pays for no further one. */
const NEWEST_SCANS = 10_000;

/** Selects one page of the stations, and the number of all. There is one row with the number only if the page is empty. */
export const pageOfStations = (
  ctx: UserScope,
  query: StationQuery,
): Sql<{ total: number } & (StationRow | { station: null })> =>
  sql`
    with newest as materialized (
      select s.station, s.user_id, s.arrived_at from scans s where ${tenantRows(ctx, 's')}
      order by s.arrived_at desc limit ${NEWEST_SCANS}::int
    ), latest as (
      select distinct on (n.station) n.station, n.user_id, n.arrived_at from newest n order by n.station, n.arrived_at desc
    ), labels as (
      select j.station,
        (count(*) filter (where ${STATUS_NOW} in ('waiting', 'claimed', 'sending')))::int as waiting,
        (count(*) filter (where ${STATUS_NOW} in ('failed', 'unconfirmed', 'expired')
          and not exists (select from label_jobs again where ${tenantRows(ctx, 'again')} and again.reprint_of = j.id)))::int as failed
      from label_jobs j where ${tenantRows(ctx, 'j')} group by j.station
    ), bridges as (
      select b.station, b.seen_at, ${isBridgeActive} as is_active from label_bridges b where ${tenantRows(ctx, 'b')}
    ), named as (
      select l.station from latest l union select l.station from labels l union select b.station from bridges b
    ), page as (
      select n.station, row_number() over (order by n.station) as position from named n order by n.station ${limitTo(query)}
    )
    select page.station, latest.arrived_at as "lastScanAt", u.full_name as "lastScanBy", bridges.seen_at as "bridgeSeenAt",
      coalesce(bridges.is_active, false) as "hasBridge", coalesce(labels.waiting, 0) as "waitingLabels",
      coalesce(labels.failed, 0) as "failedLabels", totals.total
    from (select count(*)::int as total from named) totals
    left join page on true
    left join latest on latest.station = page.station
    left join users u on ${tenantRows(ctx, 'u')} and u.id = latest.user_id
    left join labels on labels.station = page.station
    left join bridges on bridges.station = page.station
    order by page.position`;
