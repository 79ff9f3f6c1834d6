import { tenantRows } from '../../platform/db/filters.js';
import type { SystemScope } from '../../platform/db/scope.js';
import { sql, type Sql } from '../../platform/db/statements.js';
import { presentCode } from '../../platform/db/user-codes.js';
import { keyInColumn } from '../../modules/tracking-numbers/public.js';

/** A pending pre-alert, and all keys that rows of its parcel can have. */
export type Announced = { id: string; keys: string[] };

/**
 * The pre-alerts with the key of their customer's package, the one with the first of the keys. Not those of a number that the courier
 * has a flag of.
 */
const received = (ctx: SystemScope, announced: Announced[]): Sql =>
  sql`select distinct on (a.id) a.tenant_id, a.id, p.tracking_key
    from jsonb_to_recordset(${JSON.stringify(announced)}::jsonb) as sent (id uuid, keys text[])
    join prealerts a on ${tenantRows(ctx, 'a')} and a.id = sent.id and a.status = 'pending'
    join packages p on p.tenant_id = a.tenant_id and ${keyInColumn('p', sql`sent.keys`)}
      and p.courier_id = a.courier_id and p.user_code = ${presentCode('a')}
    where not exists (select from prealert_flags f where f.tenant_id = a.tenant_id and f.courier_id = a.courier_id
        and ${keyInColumn('f', sql`sent.keys`)})
      and not exists (select from prealerts other where other.tenant_id = a.tenant_id and other.courier_id = a.courier_id
        and ${keyInColumn('other', sql`sent.keys`)} and other.status = 'flagged')
    order by a.id, array_position(sent.keys, p.tracking_key)`;

export const findReceived = (ctx: SystemScope, announced: Announced[]): Sql<{ id: string }> =>
  sql`select found.id from (${received(ctx, announced)}) as found`;

export const receiveAnnounced = (ctx: SystemScope, announced: Announced[]): Sql<{ id: string }> =>
  sql`with found as (${received(ctx, announced)})
    update prealerts a set status = 'received', tracking_key = found.tracking_key, updated_at = now()
    from found where a.tenant_id = found.tenant_id and a.id = found.id and a.status = 'pending'
    returning a.id`;
