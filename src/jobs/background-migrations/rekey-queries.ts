import { tenantRows } from '../../platform/db/filters.js';
import { sql, type Sql } from '../../platform/db/statements.js';
import type { Scope } from '../../platform/db/scope.js';

/** A row whose key changes. Of a flag, `id` is the courier. */
export type KeyChange = { id: string; key: string; newKey: string };

const sent = (changes: KeyChange[]): Sql =>
  sql`jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as c (id uuid, key text, "newKey" text)`;

/** A package that is stored twice: `otherId` has the key. Null if the row has changed meanwhile. */
export type KeyRow = { id: string; isChanged: boolean; otherId: string | null };

/** Changes the keys that no other package has. Of changes to the same key, the package with the lowest id gets it. */
export const changePackageKeys = (ctx: Scope, changes: KeyChange[]): Sql<KeyRow> =>
  sql`with wanted as (
      select c.*, other.id as other_id, first_value(c.id) over (partition by c."newKey" order by c.id) as first_id
      from ${sent(changes)}
      left join packages other on ${tenantRows(ctx, 'other')} and other.tracking_key = c."newKey"
    ), changed as (
      update packages p set tracking_key = w."newKey" from wanted w
      where ${tenantRows(ctx, 'p')} and p.id = w.id and p.tracking_key = w.key and w.other_id is null and w.first_id = w.id
      returning p.id
    )
    select w.id, changed.id is not null as "isChanged",
      case when changed.id is null then coalesce(w.other_id, nullif(w.first_id, w.id)) end as "otherId"
    from wanted w left join changed on changed.id = w.id`;

export const changePrealertKeys = (ctx: Scope, changes: KeyChange[]): Sql =>
  sql`update prealerts a set tracking_key = c."newKey" from ${sent(changes)}
    where ${tenantRows(ctx, 'a')} and a.id = c.id and a.tracking_key = c.key`;

/** Adds flags with the new keys. The old ones stay for processes of the previous release. */
export const addFlagKeys = (ctx: Scope, changes: KeyChange[]): Sql =>
  sql`insert into prealert_flags (tenant_id, courier_id, tracking_key)
    select f.tenant_id, f.courier_id, c."newKey" from ${sent(changes)}
    join prealert_flags f on ${tenantRows(ctx, 'f')} and f.courier_id = c.id and f.tracking_key = c.key
    on conflict do nothing`;

export const changeScanKeys = (ctx: Scope, changes: KeyChange[]): Sql =>
  sql`update scans s set parcel_key = c."newKey" from ${sent(changes)}
    where ${tenantRows(ctx, 's')} and s.id = c.id and s.parcel_key = c.key`;

/** Moves the positions of the scans, unless the new key has one: then the next scan computes it. */
export const changePositionKeys = (ctx: Scope, changes: KeyChange[]): Sql =>
  sql`update parcel_positions o set parcel_key = c."newKey"
    from (select distinct on ("newKey") key, "newKey" from ${sent(changes)} order by "newKey", key) as c
    where ${tenantRows(ctx, 'o')} and o.parcel_key = c.key and not exists (
      select from parcel_positions other where ${tenantRows(ctx, 'other')} and other.parcel_key = c."newKey")`;
