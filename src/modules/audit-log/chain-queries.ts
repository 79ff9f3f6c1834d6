import { tenantRows } from '../../platform/db/filters.js';
import type { AuditLink } from '../../platform/db/models/types.js';
import { sql, type RowOf, type Sql } from '../../platform/db/statements.js';
import type { Scope } from '../../platform/db/scope.js';
import { columns } from '../../platform/db/columns.js';

const AUDIT_ENTRY = columns('AuditEntry', 'e', { entryId: 'id', at: 'at' });
const AUDIT_UNSEALED = columns('AuditUnsealed', 'w', ['entryId', 'at']);
const AUDIT_LINK = columns('AuditLink', 'l', ['sequence', 'entryId']);

/**
 * SHA-256 of an entry, in hexadecimal. The hashed text contains every column and is unique per content: a
 * JSON array separates the columns, and `before` and `after` have PostgreSQL's canonical form of jsonb.
 */
export const digestOf = sql`encode(sha256(convert_to(jsonb_build_array(e.tenant_id, e.id,
  (extract(epoch from e.at) * 1000)::bigint, e.actor_kind, e.actor_id, e.action, e.entity, e.entity_id, e.before::text,
  e.after::text, e.remarks, e.request_id)::text, 'UTF8')), 'hex')`;

/** Bigints are text, and hashes are in hexadecimal, here and below. */
export type HeadRow = { sequence: string; hash: string };

/** Returns no row if the chain is empty. */
export const headOfChain = (ctx: Scope): Sql<HeadRow> => sql`
  select l.sequence, encode(l.hash, 'hex') as hash from audit_links l
  where ${tenantRows(ctx, 'l')} order by l.sequence desc limit 1`;

export const linkAt = (ctx: Scope, sequence: number): Sql<HeadRow> => sql`
  select l.sequence, encode(l.hash, 'hex') as hash from audit_links l
  where ${tenantRows(ctx, 'l')} and l.sequence = ${sequence}::bigint`;

export const hasUnchained = (ctx: Scope): Sql => sql`
  select from audit_unsealed w where ${tenantRows(ctx, 'w')} limit 1`;

/** The action of the entry that closes a chain whose key was replaced. */
export const CHAIN_CLOSED = 'tenant.audit_chain_closed';

/** More closings than an installation has. If somebody has inserted more, none is found, and the older links do not verify. */
const MAX_CLOSINGS = 20;

/** The link of an entry that claims to close the chain, with the hash before it. */
export type ClosingRow = HeadRow & { previous: string; digest: string; at: Date; wrapped: string | null };

export const newestClosings = (ctx: Scope): Sql<ClosingRow> => sql`
  select l.sequence, encode(l.hash, 'hex') as hash, encode(p.hash, 'hex') as previous, ${digestOf} as digest, e.at,
    e.after ->> 'replaced_keys' as wrapped
  from audit_entries e
  join audit_links l on ${tenantRows(ctx, 'l')} and l.tenant_id = e.tenant_id and l.entry_id = e.id
  join audit_links p on ${tenantRows(ctx, 'p')} and p.tenant_id = l.tenant_id and p.sequence = l.sequence - 1
  where ${tenantRows(ctx, 'e')} and e.action = ${CHAIN_CLOSED}
  order by e.at desc, e.id desc limit ${MAX_CLOSINGS}::int`;

/** Selects the entry with this action that the present request has written. */
export const unchainedEntry = (ctx: Scope, action: string): Sql<UnchainedRow> => sql`
  select ${AUDIT_ENTRY}, ${digestOf} as digest from audit_entries e
  where ${tenantRows(ctx, 'e')} and e.action = ${action} and e.request_id = ${ctx.requestId}`;

export type UnchainedRow = RowOf<typeof AUDIT_UNSEALED> & { digest: string };

/**
 * Selects the oldest unchained entries. Returns fewer than `limit` if some were tampered with (the entry is
 * gone, or already has a link); those stay for the verification to report. The limit is applied first and
 * entries are looked up one by one: after a large upload, before the statistics are updated, PostgreSQL chose
 * a nested comparison that exceeded the time limit.
 */
export const unchainedEntries = (ctx: Scope, limit: number): Sql<UnchainedRow> => sql`
  select ${AUDIT_UNSEALED}, ${digestOf} as digest
  from (
    select w.* from audit_unsealed w where ${tenantRows(ctx, 'w')} order by w.at, w.entry_id limit ${limit}::int
  ) w
  cross join lateral (
    select e.* from audit_entries e
    where ${tenantRows(ctx, 'e')} and e.tenant_id = w.tenant_id and e.id = w.entry_id limit 1
  ) e
  left join lateral (
    select true as is_there from audit_links l
    where ${tenantRows(ctx, 'l')} and l.tenant_id = w.tenant_id and l.entry_id = w.entry_id limit 1
  ) l on true
  where l.is_there is null
  order by w.at, w.entry_id`;

/**
 * Disables sequential scans for the transaction. PostgreSQL caches the plan of the foreign key check per connection. A plan made
 * while the log was short scans the whole log for each link; 20,000 links took more than a minute.
 */
export const withoutSequentialScans = sql`set local enable_seqscan = off`;

/** Disables bitmap scans for the transaction, to avoid sorting all unchained entries to find the first ones. */
export const withoutBitmapScans = sql`set local enable_bitmapscan = off`;

export type NewLink = RowOf<typeof AUDIT_UNSEALED> & { sequence: number; hash: string };

export const insertLinks = (ctx: Scope, links: NewLink[]): Sql => sql`
  insert into audit_links (tenant_id, sequence, entry_id, hash)
  select ${ctx.tenantId}::uuid, sequence, entry_id, decode(hash, 'hex')
  from unnest(${links.map(({ sequence }) => sequence)}::bigint[], ${links.map(({ entryId }) => entryId)}::uuid[],
    ${links.map(({ hash }) => hash)}::text[]) as link (sequence, entry_id, hash)`;

/** The links are the oldest unchained entries, so the time of the last one limits the scan. */
export const deleteUnchained = (ctx: Scope, links: NewLink[]): Sql => sql`
  delete from audit_unsealed w
  using unnest(${links.map(({ at }) => at)}::timestamptz[], ${links.map(({ entryId }) => entryId)}::uuid[]) as done (at, id)
  where ${tenantRows(ctx, 'w')} and w.at <= ${links.at(-1)?.at}::timestamptz
    and w.at = done.at and w.entry_id = done.id`;

/** A link with its entry's digest, which is null if the entry is gone. */
export type LinkRow = HeadRow & Pick<AuditLink, 'entryId'> & { digest: string | null };

export const linksAfter = (ctx: Scope, after: number, limit: number): Sql<LinkRow> => sql`
  select ${AUDIT_LINK}, encode(l.hash, 'hex') as hash,
    case when e.id is not null then ${digestOf} end as digest
  from audit_links l
  left join audit_entries e on ${tenantRows(ctx, 'e')} and e.tenant_id = l.tenant_id and e.id = l.entry_id
  where ${tenantRows(ctx, 'l')} and l.sequence > ${after}::bigint
  order by l.sequence limit ${limit}::int`;

/** The number of entries in a time range that have no link, and the oldest of them. */
export type StrayRow = { total: number; firstId: string | null };

/**
 * Selects entries without a link that are not waiting for one either, between the times of two sequences'
 * entries. Each range begins where the previous one ended, so that all ranges together cover all times even
 * though entries are not in order of time.
 * @param to null for no upper limit
 */
export const strayEntries = (ctx: Scope, after: number, to: number | null): Sql<StrayRow> => sql`
  with stray as (
    select e.at, e.id from audit_entries e
    left join lateral (
      select true as is_there from audit_links l
      where ${tenantRows(ctx, 'l')} and l.tenant_id = e.tenant_id and l.entry_id = e.id limit 1
    ) l on true
    left join lateral (
      select true as is_there from audit_unsealed w
      where ${tenantRows(ctx, 'w')} and w.tenant_id = e.tenant_id and w.at = e.at and w.entry_id = e.id limit 1
    ) w on l.is_there is null
    where ${tenantRows(ctx, 'e')} and e.at > coalesce((${timeAt(ctx, after)}), '-infinity')
      and e.at <= ${to === null ? sql`'infinity'::timestamptz` : sql`(${timeAt(ctx, to)})`}
      and l.is_there is null and w.is_there is null
  )
  select count(*)::int as total, (select s.id from stray s order by s.at, s.id limit 1) as "firstId" from stray`;

/**
 * Selects when the entry of a sequence was written. If that entry is gone, selects the time of the closest
 * one before it.
 */
const timeAt = (ctx: Scope, sequence: number): Sql => sql`
  select e.at from audit_links l
  join audit_entries e on ${tenantRows(ctx, 'e')} and e.tenant_id = l.tenant_id and e.id = l.entry_id
  where ${tenantRows(ctx, 'l')} and l.sequence <= ${sequence}::bigint order by l.sequence desc limit 1`;

export const countUnchained = (ctx: Scope): Sql<{ total: number }> => sql`
  select count(*)::int as total from audit_unsealed w where ${tenantRows(ctx, 'w')}`;

/** Selects the age of the oldest entry without a link, 0 if there is none. */
export const oldestUnchained = (ctx: Scope): Sql<{ seconds: number }> => sql`
  select coalesce(extract(epoch from now() - min(w.at)), 0)::float as seconds
  from audit_unsealed w where ${tenantRows(ctx, 'w')}`;
