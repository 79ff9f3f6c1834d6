import type { SystemContext } from '../platform/context/request-context.js';
import { empty, sql, type Sql } from '../platform/db/statements.js';

/** Which rows of a table expire. Conditions refer to a row as `old`. */
export type RetentionRule = {
  table: Sql;
  /** The time from which the period counts. An index on the tenant and this time finds the oldest rows. */
  time: Sql;
  /** The period, as an interval. */
  keep: Sql;
  /** Expired rows are deleted only if this is true. */
  onlyIf?: Sql;
};

export const RETENTION_RULES: RetentionRule[] = [
  {
    table: sql`webhook_deliveries`,
    time: sql`old.created_at`,
    keep: sql`interval '30 days'`,
    onlyIf: sql`old.status <> 'pending'`,
  },
  // Deleted with their deliveries, or earlier if the operator wants that.
  { table: sql`webhook_exchanges`, time: sql`old.expires_at`, keep: sql`interval '0'` },
  // What the calls named is deleted with them.
  { table: sql`api_calls`, time: sql`old.expires_at`, keep: sql`interval '0'` },
  {
    // Events with deliveries stay: settled deliveries are deleted after 30 days, pending ones are needed.
    table: sql`events`,
    time: sql`old.occurred_at`,
    keep: sql`interval '90 days'`,
    onlyIf: sql`not exists (
      select from webhook_deliveries d where d.tenant_id = old.tenant_id and d.event_id = old.id)`,
  },
  { table: sql`manifest_mails`, time: sql`old.created_at`, keep: sql`interval '90 days'` },
  { table: sql`account_mails`, time: sql`old.created_at`, keep: sql`interval '90 days'` },
  { table: sql`bill_mails`, time: sql`old.created_at`, keep: sql`interval '2 years'` },
  { table: sql`notices`, time: sql`old.created_at`, keep: sql`interval '180 days'` },
  { table: sql`notice_mails`, time: sql`old.created_at`, keep: sql`interval '180 days'` },
  { table: sql`password_resets`, time: sql`old.requested_at`, keep: sql`interval '1 day'` },
  { table: sql`customer_sync_runs`, time: sql`old.created_at`, keep: sql`interval '90 days'` },
  { table: sql`integration_checks`, time: sql`old.created_at`, keep: sql`interval '90 days'` },
  { table: sql`dispatches`, time: sql`old.requested_at`, keep: sql`interval '90 days'` },
  { table: sql`parcel_claims`, time: sql`old.created_at`, keep: sql`interval '180 days'` },
  { table: sql`feed_events`, time: sql`old.received_at`, keep: sql`interval '30 days'` },
  { table: sql`feed_refusals`, time: sql`old.refused_at`, keep: sql`interval '30 days'` },
  { table: sql`carrier_states`, time: sql`old.updated_at`, keep: sql`interval '180 days'` },
  { table: sql`label_jobs`, time: sql`old.created_at`, keep: sql`interval '7 days'` },
  { table: sql`label_bridges`, time: sql`old.seen_at`, keep: sql`interval '1 day'` },
  { table: sql`preauth_tokens`, time: sql`old.expires_at`, keep: sql`interval '1 hour'` },
  { table: sql`station_workers`, time: sql`old.expires_at`, keep: sql`interval '1 hour'` },
  { table: sql`sessions`, time: sql`coalesce(old.ended_at, old.expires_at)`, keep: sql`interval '30 days'` },
  {
    table: sql`service_tokens`,
    time: sql`coalesce(old.revoked_at, old.expires_at)`,
    keep: sql`interval '90 days'`,
  },
  {
    // A user's latest network stays, so that a login from a new network is still detected after a long time.
    table: sql`known_networks`,
    time: sql`old.last_seen_at`,
    keep: sql`interval '90 days'`,
    onlyIf: sql`exists (select from known_networks newer
      where newer.tenant_id = old.tenant_id and newer.user_id = old.user_id and newer.last_seen_at > old.last_seen_at)`,
  },
  // Twice as long as the oldest scan that is accepted, so that a scan which arrives late meets all others of its parcel.
  { table: sql`scans`, time: sql`old.arrived_at`, keep: sql`interval '180 days'` },
  {
    // The place of a parcel in the warehouse stays.
    table: sql`parcel_positions`,
    time: sql`old.updated_at`,
    keep: sql`interval '180 days'`,
    onlyIf: sql`not exists (select from packages p where p.tenant_id = old.tenant_id and p.tracking_key = old.parcel_key
      and p.status in ('received', 'on_hold', 'customs_hold'))`,
  },
  { table: sql`idempotency_keys`, time: sql`old.created_at`, keep: sql`interval '24 hours'` },
  // A few rows per courier, so it needs no index on the time.
  { table: sql`courier_quotas`, time: sql`old.period_start`, keep: sql`interval '7 days'` },
  { table: sql`principal_quotas`, time: sql`old.period_start`, keep: sql`interval '7 days'` },
  // A row per courier and user, which has been refilled for days. An index on the time would be rewritten with each settlement.
  { table: sql`write_allowances`, time: sql`old.settled_at`, keep: sql`interval '7 days'` },
  {
    table: sql`login_throttles`,
    time: sql`old.updated_at`,
    keep: sql`interval '1 day'`,
    onlyIf: sql`coalesce(old.locked_until < now(), true)`,
  },
];

/** The position of a row in the order of time. The place of the row in the table distinguishes rows of the same time. */
type Position = { time: string; place: string };

/** The position before all rows. */
export const START: Position = { time: '-infinity', place: '(0,0)' };

/** `examined` is the number of expired rows, and the position is that of the last one. */
type RetentionBatch = Position & { examined: number };

/**
 * Examines the next `limit` expired rows after a position, and deletes them if their rule allows it. Returns no row if there
 * are none. The condition of a rule is checked after the limit, so that a batch reads a limited number of rows.
 */
export function deleteBatch(
  { tenantId }: SystemContext,
  { table, time, keep, onlyIf }: RetentionRule,
  after: Position,
  limit: number,
): Sql<RetentionBatch> {
  return sql`
    with expired as materialized (
      select old.ctid as place, ${time} as time from ${table} old
      where old.tenant_id = ${tenantId}::uuid and ${time} < now() - ${keep}
        and ${time} >= ${after.time}::timestamptz and (${time}, old.ctid) > (${after.time}::timestamptz, ${after.place}::tid)
      order by ${time}, old.ctid limit ${limit}::int
    ), removed as (
      delete from ${table} old using expired
      where old.tenant_id = ${tenantId}::uuid and old.ctid = expired.place${onlyIf ? sql` and ${onlyIf}` : empty}
    )
    select time::text as time, place::text as place, (select count(*)::int from expired) as examined
    from expired order by expired.time desc, expired.place desc limit 1`;
}
