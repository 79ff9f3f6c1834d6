import type { SystemContext } from '../../platform/context/request-context.js';
import { tenantRows } from '../../platform/db/filters.js';
import { sql, type Sql } from '../../platform/db/statements.js';

export type Kind = 'webhook' | 'mail' | 'prealert' | 'package' | 'event' | 'change';

/** Something that the lost server did after the restore point. */
export type LostRow = {
  kind: Kind;
  courierId: string | null;
  id: string;
  /** The row by which the restored database is asked: the delivered event, the mail, the pre-alert and so on. */
  rowId: string;
  reference: string | null;
  at: Date;
  note: string;
};

/** Selects what the lost server did since a time, oldest first. */
export const doneSince = (ctx: SystemContext, since: Date): Sql<LostRow> => sql`
  select 'webhook' as kind, d.courier_id as "courierId", d.event_id as id, d.event_id as "rowId",
    p.tracking_number as reference, d.settled_at as at, 'delivered: ' || e.type as note
  from webhook_deliveries d
  join events e on ${tenantRows(ctx, 'e')} and e.id = d.event_id
  left join packages p on ${tenantRows(ctx, 'p')} and p.id = e.package_id
  where ${tenantRows(ctx, 'd')} and d.status = 'delivered' and d.settled_at >= ${since}::timestamptz
  union all
  select 'mail', m.courier_id, m.id, m.id, m.manifest_number, m.settled_at, 'sent: manifest ' || m.manifest_status
  from manifest_mails m
  where ${tenantRows(ctx, 'm')} and m.status = 'sent' and m.settled_at >= ${since}::timestamptz
  union all
  select 'prealert', a.courier_id, a.id, a.id, a.tracking_number, a.created_at, 'announced for ' || a.user_code
  from prealerts a where ${tenantRows(ctx, 'a')} and a.created_at >= ${since}::timestamptz
  union all
  select 'package', k.courier_id, k.id, k.id, k.tracking_number, k.received_at, 'received as ' || k.house_number
  from packages k where ${tenantRows(ctx, 'k')} and k.received_at >= ${since}::timestamptz
  union all
  select 'event', n.courier_id, n.id, n.id, n.sequence::text, n.occurred_at, n.type
  from events n where ${tenantRows(ctx, 'n')} and n.sequence is not null and n.occurred_at >= ${since}::timestamptz
  union all
  select 'change', case u.actor_kind
      when 'api_key' then case when t.id is null then u.actor_id else t.courier_id end
      when 'user' then w.courier_id
    end, u.entity_id, u.id, u.action, u.at, concat_ws(' ', u.actor_kind, u.request_id)
  from audit_entries u
  left join service_tokens t on ${tenantRows(ctx, 't')} and t.id = u.actor_id
  left join users w on ${tenantRows(ctx, 'w')} and w.id = u.actor_id
  where ${tenantRows(ctx, 'u')} and u.at >= ${since}::timestamptz
  order by 6`;

const TABLES = {
  webhook: sql`events`,
  mail: sql`manifest_mails`,
  prealert: sql`prealerts`,
  package: sql`packages`,
  event: sql`events`,
  change: sql`audit_entries`,
} satisfies Record<Kind, Sql>;

/** Selects those of the rows that the restored database has. */
export const existingRows = (ctx: SystemContext, kind: Kind, ids: string[]): Sql<{ id: string }> =>
  sql`select r.id from ${TABLES[kind]} r where ${tenantRows(ctx, 'r')} and r.id = any(${ids}::uuid[])`;

/** Selects those of the requests of which the restored database has an audit entry, so that they are not lost. */
export const recordedRequests = (ctx: SystemContext, ids: string[], since: Date): Sql<{ id: string }> =>
  sql`select distinct u.request_id as id from audit_entries u
    where ${tenantRows(ctx, 'u')} and u.at >= ${since}::timestamptz - interval '1 minute' and u.request_id = any(${ids}::text[])`;

/** A request that an audit entry names. */
export type AuditedRequest = { id: string; at: Date };

/** Request ids of the API. Commands and background work write other texts. */
const API_REQUEST = sql`u.actor_kind <> 'system' and u.request_id ~ '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$'`;

/** Selects the last request before a time that an audit entry names. */
export const lastRequest = (ctx: SystemContext, until: Date): Sql<AuditedRequest> => sql`
  select u.request_id as id, u.at from audit_entries u
  where ${tenantRows(ctx, 'u')} and u.at < ${until}::timestamptz and ${API_REQUEST}
  order by u.at desc limit 1`;

/** Selects the requests between two times that audit entries name. */
export const auditedRequests = (ctx: SystemContext, from: Date, until: Date): Sql<AuditedRequest> => sql`
  select u.request_id as id, max(u.at) as at from audit_entries u
  where ${tenantRows(ctx, 'u')} and u.at >= ${from}::timestamptz and u.at < ${until}::timestamptz and ${API_REQUEST}
  group by 1`;

export type CourierRow = {
  id: string;
  code: string;
  tenant: string;
  /** The first digits of the keyed hash of its API key, as in the log. */
  keyId: string | null;
  lastSequence: number;
  /** Webhooks that are sent again when outbound work is resumed. */
  pending: number;
};

export const couriersOf = (ctx: SystemContext): Sql<CourierRow> => sql`
  select c.id, c.code, t.slug as tenant, left(c.api_key_hash, 12) as "keyId",
    coalesce((select n.last_sequence from event_counters n where ${tenantRows(ctx, 'n')} and n.courier_id = c.id), 0)::float
      as "lastSequence",
    (select count(*)::int from webhook_deliveries d
      where ${tenantRows(ctx, 'd')} and d.courier_id = c.id and d.status = 'pending') as pending
  from couriers c join tenants t on t.id = ${ctx.tenantId}::uuid
  where ${tenantRows(ctx, 'c')} order by c.code`;

/** The name of the tenant, for requests of its staff. */
export const nameOfTenant = (ctx: SystemContext): Sql<{ slug: string }> =>
  sql`select t.slug from tenants t where t.id = ${ctx.tenantId}::uuid`;
