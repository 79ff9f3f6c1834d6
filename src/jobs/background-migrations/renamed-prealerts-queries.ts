import { tenantRows } from '../../platform/db/filters.js';
import type { SystemScope } from '../../platform/db/scope.js';
import { sql, type Sql } from '../../platform/db/statements.js';
import { presentCode } from '../../platform/db/user-codes.js';

/** Longer than a submission that had found the customer could wait for the rename. */
const LATEST = sql`interval '5 minutes'`;

/** What the audit trail tells about a pre-alert whose user code no customer has. */
export type Orphan = {
  id: string;
  userCode: string;
  /** The present code of the only customer who had the code, and who had it when the pre-alert was stored. Otherwise null. */
  newCode: string | null;
  /** Whether each customer who is known to have had the code was deleted: their pre-alerts outlive them. */
  isExplained: boolean;
};

/** The changes with which a customer of the courier lost the code. Of a deleted customer, a rename does not tell the courier. */
const lost = (ctx: SystemScope): Sql =>
  sql`select o.id, e.entity_id, e.at, e.action = 'customer.updated' as renamed, c.id is not null as remains
    from orphans o
    join audit_entries e on ${tenantRows(ctx, 'e')} and e.entity = 'customer' and e.action in ('customer.updated', 'customer.deleted')
      and e.before ->> 'user_code' = o.user_code
    left join customers c on c.tenant_id = e.tenant_id and c.id = e.entity_id
    where coalesce(c.courier_id::text, e.before ->> 'courier_id', o.courier_id::text) = o.courier_id::text`;

/** When the customer of a change had got the code: with the last change to it, or as a new customer. */
const BEGAN = sql`coalesce((select max(s.at) from audit_entries s
    where s.tenant_id = c.tenant_id and s.entity_id = c.id and s.at < l.at and s.after ->> 'user_code' = o.user_code), c.created_at)`;

/** Finds out to whom pre-alerts belong whose user code no customer of their courier has. */
export const findOrphans = (ctx: SystemScope, ids: string[]): Sql<Orphan> =>
  sql`with orphans as (
      select p.tenant_id, p.id, p.courier_id, p.user_code, p.created_at from prealerts p
      where ${tenantRows(ctx, 'p')} and p.id = any(${ids}::uuid[]) and not exists (select from customers c
        where c.tenant_id = p.tenant_id and c.courier_id = p.courier_id and c.user_code = ${presentCode('p')})
    ), lost as materialized (${lost(ctx)}),
    holders as (
      select id, count(distinct entity_id) as holders, bool_and(not remains) as all_gone from lost group by id
    )
    select o.id, o.user_code as "userCode", coalesce(h.all_gone, false) as "isExplained",
      (select max(c.user_code) from lost l join customers c on c.tenant_id = o.tenant_id and c.id = l.entity_id
       where l.id = o.id and l.renamed and h.holders = 1
         and o.created_at >= ${BEGAN} and o.created_at <= l.at + ${LATEST}) as "newCode"
    from orphans o left join holders h on h.id = o.id order by o.id`;

/** Gives pre-alerts the present code of their customer, unless one of both codes has changed meanwhile. */
export const changeUserCodes = (
  ctx: SystemScope,
  changes: Pick<Orphan, 'id' | 'userCode' | 'newCode'>[],
): Sql<{ id: string }> =>
  sql`with found as (
      select a.tenant_id, a.id, sent."newCode"
      from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as sent (id uuid, "userCode" text, "newCode" text)
      join prealerts a on ${tenantRows(ctx, 'a')} and a.id = sent.id and a.user_code = sent."userCode"
      where exists (select from customers c
        where c.tenant_id = a.tenant_id and c.courier_id = a.courier_id and c.user_code = sent."newCode")
      order by a.id for update of a
    )
    update prealerts a set user_code = found."newCode", updated_at = now()
    from found where a.tenant_id = found.tenant_id and a.id = found.id
    returning a.id`;
