import type { Caller } from '../../platform/identity/callers.js';
import { tenantRows } from '../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../platform/db/transaction.js';

/**
 * SHA-256 of an entry, in hexadecimal. The hashed text contains every column and is unique per content: a
 * JSON array separates the columns, and `before` and `after` have PostgreSQL's canonical form of jsonb.
 */
const digestOf = sql`encode(sha256(convert_to(jsonb_build_array(e.tenant_id, e.id,
  (extract(epoch from e.at) * 1000)::bigint, e.actor_kind, e.actor_id, e.action, e.entity, e.entity_id, e.before::text,
  e.after::text, e.remarks, e.request_id)::text, 'UTF8')), 'hex')`;

/** The last link of a chain; no row if the chain is empty. Bigints are text, here and below. */
export type HeadRow = { sequence: string; hash: string };

export const headOfChain = (db: Db, caller: Caller): Sql => sql`
  select l.sequence, encode(l.hash, 'hex') as hash from audit_links l
  where ${tenantRows(db, caller, 'l')} order by l.sequence desc limit 1`;

export const linkAt = (db: Db, caller: Caller, sequence: number): Sql => sql`
  select l.sequence, encode(l.hash, 'hex') as hash from audit_links l
  where ${tenantRows(db, caller, 'l')} and l.sequence = ${sequence}::bigint`;

export const hasUnchained = (db: Db, caller: Caller): Sql => sql`
  select from audit_unsealed w where ${tenantRows(db, caller, 'w')} limit 1`;

export type UnchainedRow = { entry_id: string; at: Date; digest: string };

/**
 * Selects the oldest unchained entries. Returns fewer than `limit` if some were tampered with (the entry is
 * gone, or already has a link); those stay for the verification to report. The limit is applied first and
 * entries are looked up one by one: after a large upload, before the statistics are updated, PostgreSQL chose
 * a nested comparison that exceeded the time limit.
 */
export const unchainedEntries = (db: Db, caller: Caller, limit: number): Sql => sql`
  select w.entry_id, w.at, ${digestOf} as digest
  from (
    select w.* from audit_unsealed w where ${tenantRows(db, caller, 'w')} order by w.at, w.entry_id limit ${limit}::int
  ) w
  cross join lateral (
    select e.* from audit_entries e
    where ${tenantRows(db, caller, 'e')} and e.tenant_id = w.tenant_id and e.id = w.entry_id limit 1
  ) e
  left join lateral (
    select true as is_there from audit_links l
    where ${tenantRows(db, caller, 'l')} and l.tenant_id = w.tenant_id and l.entry_id = w.entry_id limit 1
  ) l on true
  where l.is_there is null
  order by w.at, w.entry_id`;

export type NewLink = { sequence: number; entryId: string; at: Date; hash: string };

export const insertLinks = (caller: Caller, links: NewLink[]): Sql => sql`
  insert into audit_links (tenant_id, sequence, entry_id, hash)
  select ${caller.tenantId}::uuid, sequence, entry_id, decode(hash, 'hex')
  from unnest(${links.map(({ sequence }) => sequence)}::bigint[], ${links.map(({ entryId }) => entryId)}::uuid[],
    ${links.map(({ hash }) => hash)}::text[]) as link (sequence, entry_id, hash)`;

/** The links are the oldest unchained entries, so the time of the last one limits the scan. */
export const deleteUnchained = (db: Db, caller: Caller, links: NewLink[]): Sql => sql`
  delete from audit_unsealed w
  using unnest(${links.map(({ at }) => at)}::timestamptz[], ${links.map(({ entryId }) => entryId)}::uuid[]) as done (at, id)
  where ${tenantRows(db, caller, 'w')} and w.at <= ${links.at(-1)?.at}::timestamptz
    and w.at = done.at and w.entry_id = done.id`;

/** A link with its entry's digest, which is null if the entry is gone. */
export type LinkRow = HeadRow & { entry_id: string; digest: string | null };

export const linksAfter = (db: Db, caller: Caller, after: number, limit: number): Sql => sql`
  select l.sequence, l.entry_id, encode(l.hash, 'hex') as hash, case when e.id is not null then ${digestOf} end as digest
  from audit_links l
  left join audit_entries e on ${tenantRows(db, caller, 'e')} and e.tenant_id = l.tenant_id and e.id = l.entry_id
  where ${tenantRows(db, caller, 'l')} and l.sequence > ${after}::bigint
  order by l.sequence limit ${limit}::int`;

/** The number of entries in a time range that have no link, and the oldest of them. */
export type StrayRow = { total: number; first_id: string | null };

/**
 * Selects entries without a link that are not waiting for one either, between the times of two sequences'
 * entries. Each range begins where the previous one ended, so that all ranges together cover all times even
 * though entries are not in order of time.
 * @param to null for no upper limit
 */
export const strayEntries = (db: Db, caller: Caller, after: number, to: number | null): Sql => sql`
  with stray as (
    select e.at, e.id from audit_entries e
    left join lateral (
      select true as is_there from audit_links l
      where ${tenantRows(db, caller, 'l')} and l.tenant_id = e.tenant_id and l.entry_id = e.id limit 1
    ) l on true
    left join lateral (
      select true as is_there from audit_unsealed w
      where ${tenantRows(db, caller, 'w')} and w.tenant_id = e.tenant_id and w.at = e.at and w.entry_id = e.id limit 1
    ) w on l.is_there is null
    where ${tenantRows(db, caller, 'e')} and e.at > coalesce((${timeAt(db, caller, after)}), '-infinity')
      and e.at <= ${to === null ? sql`'infinity'::timestamptz` : sql`(${timeAt(db, caller, to)})`}
      and l.is_there is null and w.is_there is null
  )
  select count(*)::int as total, (select s.id from stray s order by s.at, s.id limit 1) as first_id from stray`;

/**
 * Selects when the entry of a sequence was written. If that entry is gone, selects the time of the closest
 * one before it.
 */
const timeAt = (db: Db, caller: Caller, sequence: number): Sql => sql`
  select e.at from audit_links l
  join audit_entries e on ${tenantRows(db, caller, 'e')} and e.tenant_id = l.tenant_id and e.id = l.entry_id
  where ${tenantRows(db, caller, 'l')} and l.sequence <= ${sequence}::bigint order by l.sequence desc limit 1`;

export const countUnchained = (db: Db, caller: Caller): Sql => sql`
  select count(*)::int as total from audit_unsealed w where ${tenantRows(db, caller, 'w')}`;
