import { tenantRows } from '../../../platform/db/filters.js';
import type { SystemScope } from '../../../platform/db/scope.js';
import { once, raw, sql, type Sql } from '../../../platform/db/statements.js';
import { zoneOf } from '../../tenant-settings/public.js';
import { mailsSentToday, MAILS_OF_COURIER } from './quota.js';
import { quietUntil } from './quiet-hours.js';

/** How long a notice waits for others of its customer, in minutes. A flight is told in one mail because of it. */
export const WAIT_MINUTES = 10;

/** The couriers of which events were stored since the last run, or of which something is due. */
export const couriersToTell = (ctx: SystemScope): Sql<{ courierId: string }> => once`
  select s.courier_id as "courierId" from notice_settings s
  left join event_counters k on ${tenantRows(ctx, 'k')} and k.tenant_id = s.tenant_id and k.courier_id = s.courier_id
  where ${tenantRows(ctx, 's')} and (s.is_enabled and k.last_sequence > s.last_sequence
    or exists (select from notices n where ${tenantRows(ctx, 'n')} and n.tenant_id = s.tenant_id and n.courier_id = s.courier_id
      and n.status = 'held' and n.due_at <= now()))
  order by s.courier_id`;

/** Whether the courier gets events of what its customers are told (decision 0145). */
export const isChosen = (courier: 'c'): Sql =>
  sql`'consignee.notice' = any(${raw(courier)}.add_package_events || ${raw(courier)}.update_package_events)`;

export type LockedSettings = {
  isEnabled: boolean;
  /** Whether a URL of the courier has the event. */
  isChosen: boolean;
  /** How many mails the courier may send today. */
  mailsLeft: number;
  /** When the quiet hours end, if they last. */
  quietUntil: Date | null;
};

const QUIET = { from: sql`s.quiet_from`, to: sql`s.quiet_to` };

/** When the quiet hours of settings `s` end, if they last. */
export const quietUntilOf = (ctx: SystemScope): Sql =>
  quietUntil(sql`now()`, { ...QUIET, zone: sql`coalesce(s.time_zone, ${zoneOf(ctx)})` });

/** Locks the settings of a courier, so that one run at a time tells its customers. Returns no row while another one does. */
export const lockSettings = (ctx: SystemScope, courierId: string): Sql<LockedSettings> => once`
  select s.is_enabled as "isEnabled", (select ${isChosen('c')} from couriers c where ${tenantRows(ctx, 'c')} and c.tenant_id = s.tenant_id
      and c.id = s.courier_id) as "isChosen",
    greatest(0, ${MAILS_OF_COURIER}::int - ${mailsSentToday(asStaff(ctx), sql`s.courier_id`)}) as "mailsLeft",
    ${quietUntilOf(ctx)} as "quietUntil"
  from notice_settings s where ${tenantRows(ctx, 's')} and s.courier_id = ${courierId}::uuid for no key update skip locked`;

/** A job sees the rows of all couriers of its tenant. */
const asStaff = ({ applicationFilters, tenantId }: SystemScope) => ({
  applicationFilters,
  caller: { tenantId, courierId: null },
});

/**
 * Examines the next events of a courier in their order, and stores what its customers are told of them. The unique index makes a notice of each
 * status of a parcel for a customer once, however often the event is repeated. One that was superseded is held again.
 *
 * A change of a package without a change of its status tells the customer that it has now, if the status began after notices were switched on: it
 * may be the first customer of the package, or another one.
 */
export const planNotices = (
  ctx: SystemScope,
  courierId: string,
  limit: number,
): Sql<{ examined: number }> => once`
  with settings as (
    select s.*, ${isChosen('c')} as is_chosen from notice_settings s
    join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = s.tenant_id and c.id = s.courier_id
    where ${tenantRows(ctx, 's')} and s.courier_id = ${courierId}::uuid
  ), examined as materialized (
    select e.sequence, e.type, e.package_id, e.data ->> 'status' as state
    from settings s join events e on ${tenantRows(ctx, 'e')} and e.courier_id = s.courier_id and e.sequence > s.last_sequence
    order by e.sequence limit ${limit}::int
  ), changed as (
    select distinct on (x.package_id, x.state) x.* from examined x
    where x.package_id is not null and x.type in ('package.created', 'package.status_changed', 'package.updated')
    order by x.package_id, x.state, x.type = 'package.updated', x.sequence desc
  ), stored as (
    insert into notices as n (tenant_id, id, courier_id, customer_id, package_id, tracking_number, state, sequence, status, due_at)
    select p.tenant_id, new_id(), p.courier_id, cu.id, p.id, p.tracking_number, x.state, x.sequence, 'held',
      now() + make_interval(mins => ${WAIT_MINUTES}::int)
    from settings s cross join changed x
    join packages p on ${tenantRows(ctx, 'p')} and p.id = x.package_id and p.courier_id = s.courier_id
    join customers cu on ${tenantRows(ctx, 'cu')} and cu.courier_id = p.courier_id and cu.user_code = p.user_code and cu.is_active
    where (s.sends_mail or s.is_chosen) and x.state = any(s.states) and (x.type <> 'package.updated' or x.state = p.status and (
      select max(h.recorded_at) from package_events h where ${tenantRows(ctx, 'h')} and h.tenant_id = p.tenant_id and h.package_id = p.id
        and h.status = p.status and h.previous_status is distinct from h.status) >= s.told_since)
    order by x.sequence
    on conflict (tenant_id, customer_id, package_id, state) do update
      set status = 'held', sequence = excluded.sequence, due_at = excluded.due_at, settled_at = null
      where n.status = 'superseded'
  ), moved as (
    update notice_settings s set last_sequence = (select max(x.sequence) from examined x)
    where ${tenantRows(ctx, 's')} and s.courier_id = ${courierId}::uuid and exists (select from examined)
  )
  select count(*)::int as examined from examined`;
