import { tenantRows } from '../../platform/db/filters.js';
import type { SystemScope } from '../../platform/db/scope.js';
import { sql, type Sql } from '../../platform/db/statements.js';

/** A pre-alert, its number and the key of the number. */
export type AnnouncedKey = { id: string; number: string; key: string };

/** `otherId` is the pre-alert of the courier that has the key. Null if this one has it, or has changed meanwhile. */
export type KeyedPrealert = { id: string; otherId: string | null };

/** Gives the keys to pre-alerts, unless another of the courier has it. Of several, the one with the lowest id gets it. */
export const storeAnnouncedKeys = (ctx: SystemScope, keys: AnnouncedKey[]): Sql<KeyedPrealert> =>
  sql`with found as (
      select a.tenant_id, a.id, a.courier_id, sent.key
      from jsonb_to_recordset(${JSON.stringify(keys)}::jsonb) as sent (id uuid, number text, key text)
      join prealerts a on ${tenantRows(ctx, 'a')} and a.id = sent.id and a.tracking_number = sent.number
      where a.announced_key is distinct from sent.key
      order by a.id for update of a
    ), wanted as (
      select found.*, other.id as other_id, first_value(found.id) over (partition by found.courier_id, found.key order by found.id) as first_id
      from found left join prealerts other on other.tenant_id = found.tenant_id and other.courier_id = found.courier_id
        and other.announced_key = found.key
    ), changed as (
      update prealerts a set announced_key = w.key from wanted w
      where a.tenant_id = w.tenant_id and a.id = w.id and w.other_id is null and w.first_id = w.id
    )
    select w.id, coalesce(w.other_id, nullif(w.first_id, w.id)) as "otherId" from wanted w order by w.id`;
