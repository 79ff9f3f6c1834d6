import { tenantRows } from '../../../platform/db/filters.js';
import type { SystemScope } from '../../../platform/db/scope.js';
import { once, sql, type Sql } from '../../../platform/db/statements.js';
import { addressKey } from '../address.js';
import type { NoticeLanguage, NoticeState } from '../settings-queries.js';
import { isChosen } from './plan-queries.js';
import { countMails, MAILS_OF_ADDRESS, TOMORROW } from './quota.js';

/** A notice that could not be told for so long is not told any more. */
const KEPT = sql`interval '3 days'`;

/** Holds what is due until a time. */
export const holdDue = (ctx: SystemScope, courierId: string, until: Date | 'tomorrow'): Sql =>
  sql`update notices n set due_at = ${until === 'tomorrow' ? TOMORROW : sql`${until}::timestamptz`}
    where ${tenantRows(ctx, 'n')} and n.courier_id = ${courierId}::uuid and n.status = 'held' and n.due_at <= now()`;

/** What the courier's own system is told of a customer. `parcels` is cut. */
export type ToldCustomer = {
  eventId: string;
  userCode: string;
  firstName: string;
  lastName: string;
  email: string | null;
  language: NoticeLanguage;
  courierName: string;
  total: number;
  parcels: { packageId: string; trackingNumber: string; state: NoticeState }[];
  counts: { state: NoticeState; total: number }[];
};

/** `customers` is how many were examined. */
export type Told = { customers: number; mailIds: string[]; events: ToldCustomer[] };

/** How many parcels an event names. */
const NAMED = sql`500`;

/**
 * Decides about all that is held for the customers of whom something is due, and makes one mail for each who is told something, and an event if the
 * courier has chosen it. A parcel is told with its latest status. What was reached before is superseded, and so is a status that the
 * parcel has lost again while it was held.
 */
export const tellDue = (ctx: SystemScope, courierId: string, customers: number): Sql<Told> => once`
  with settings as (
    select s.*, c.is_active, c.name, ${isChosen('c')} as is_chosen from notice_settings s
    join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = s.tenant_id and c.id = s.courier_id
    where ${tenantRows(ctx, 's')} and s.courier_id = ${courierId}::uuid
  ), due as materialized (
    select n.customer_id from notices n
    where ${tenantRows(ctx, 'n')} and n.courier_id = ${courierId}::uuid and n.status = 'held' and n.due_at <= now()
    group by n.customer_id order by min(n.due_at), n.customer_id limit ${customers}::int
  ), addressed as materialized (
    select due.customer_id, cu.user_code, cu.first_name, cu.last_name, cu.email, ${addressKey(sql`cu.email`)} as address_key,
      coalesce(cu.email ~* '^[^\\s@]+@[^\\s@]+[.][^\\s@]+$', false) as has_address
    from due join customers cu on ${tenantRows(ctx, 'cu')} and cu.id = due.customer_id
  ), judged as materialized (
    select n.id, n.package_id, n.tracking_number, n.state, n.sequence, a.*, recent.oldest, case
        when not (s.is_enabled and s.is_active and (s.sends_mail or s.is_chosen)) then 'switched_off'
        when p.id is null then 'other_customer'
        when n.created_at < now() - ${KEPT} then 'too_late'
        when n.sequence < max(n.sequence) over (partition by n.customer_id, n.package_id) then 'superseded'
        when p.status <> n.state and exists (select from notices t where ${tenantRows(ctx, 't')} and t.customer_id = n.customer_id
          and t.package_id = n.package_id and t.state = p.status) then 'superseded'
        when coalesce(choice.is_opted_out, false) then 'opted_out'
        when s.sends_mail and a.has_address and recent.total >= ${MAILS_OF_ADDRESS}::int then 'held'
        else 'told'
      end as verdict
    from settings s cross join addressed a
    join notices n on ${tenantRows(ctx, 'n')} and n.courier_id = s.courier_id and n.customer_id = a.customer_id and n.status = 'held'
    left join packages p on ${tenantRows(ctx, 'p')} and p.id = n.package_id and p.courier_id = n.courier_id and p.user_code = a.user_code
    left join notice_choices choice on ${tenantRows(ctx, 'choice')} and choice.courier_id = n.courier_id and choice.address_key = a.address_key
    left join lateral (
      select count(*) as total, min(mail.created_at) as oldest from (
        select m.created_at from notice_mails m
        where ${tenantRows(ctx, 'm')} and m.courier_id = n.courier_id and m.address_key = a.address_key and m.status <> 'skipped'
          and m.created_at > now() - interval '24 hours'
        order by m.created_at desc limit ${MAILS_OF_ADDRESS}::int) mail
    ) recent on true
  ), told as materialized (
    select customer_id, user_code, first_name, last_name, email, address_key, has_address, new_id() as event_id from judged
    where verdict = 'told' group by 1, 2, 3, 4, 5, 6, 7
  ), mails as (
    insert into notice_mails (tenant_id, id, courier_id, customer_id, recipient, address_key, language)
    select s.tenant_id, new_id(), s.courier_id, told.customer_id, told.email, told.address_key, s.language
    from settings s cross join told where s.sends_mail and told.has_address
    order by told.customer_id
    returning id, customer_id
  ), settled as (
    update notices n set
      status = case
        when j.verdict in ('switched_off', 'other_customer', 'too_late') then 'cancelled'
        when j.verdict = 'told' and mails.id is null then case when s.sends_mail then 'no_address' else 'webhook_only' end
        else j.verdict end,
      reason = case when j.verdict in ('switched_off', 'other_customer', 'too_late') then j.verdict end,
      mail_id = case when j.verdict = 'told' then mails.id end,
      event_id = case when j.verdict = 'told' and s.is_chosen then told.event_id end,
      due_at = case when j.verdict = 'held' then j.oldest + interval '24 hours' end,
      settled_at = case when j.verdict <> 'held' then now() end
    from settings s cross join judged j left join told on told.customer_id = j.customer_id left join mails on mails.customer_id = j.customer_id
    where ${tenantRows(ctx, 'n')} and n.id = j.id
  ), counted as (
    ${countMails(ctx.tenantId, courierId, sql`select count(*)::int as total from mails`)}
  ), events as (
    select told.*, s.language, s.name, listed.* from settings s cross join told
    cross join lateral (
      select sum(state.total)::int as total, jsonb_agg(jsonb_build_object('state', state.state, 'total', state.total)) as counts from (
        select j.state, count(*)::int as total from judged j where j.customer_id = told.customer_id and j.verdict = 'told' group by j.state) state
    ) counted
    cross join lateral (
      select counted.total, counted.counts, jsonb_agg(jsonb_build_object('packageId', named.package_id, 'trackingNumber', named.tracking_number,
        'state', named.state)) as parcels
      from (select * from judged j where j.customer_id = told.customer_id and j.verdict = 'told' order by j.sequence desc, j.id limit ${NAMED}) named
    ) listed
    where s.is_chosen
  )
  select (select count(*)::int from due) as customers, (select coalesce(array_agg(id::text), '{}') from mails) as "mailIds",
    (select coalesce(jsonb_agg(jsonb_build_object('eventId', e.event_id, 'userCode', e.user_code, 'firstName', e.first_name, 'lastName', e.last_name,
      'email', e.email, 'language', e.language, 'courierName', e.name, 'total', e.total, 'counts', e.counts, 'parcels', e.parcels)), '[]')
      from events e) as events`;
