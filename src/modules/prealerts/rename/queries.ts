import { auditRows } from '../../../platform/audit/audit.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import type { Customer, PrealertRename } from '../../../platform/db/models/types.js';
import type { SystemScope, UserScope } from '../../../platform/db/scope.js';
import { once, sql, type Sql } from '../../../platform/db/statements.js';

/** A change of a customer's user code. */
export type UserCodeChange = { customerId: string; courierId: string; from: string; to: string };

/** What a rename finds: open pre-alerts, counted up to one more than `most`, and unfinished renames of other customers. */
export type RenameFacts = { open: number; isBlocked: boolean };

/** A rename must not meet rows that still wait for the new code of another customer: they would be taken for this customer's. */
export const renameFacts = (
  ctx: UserScope,
  { customerId, courierId, from, to }: UserCodeChange,
  most: number,
): Sql<RenameFacts> =>
  once`select (select count(*)::int from (
      select from prealerts p where ${ownRows(ctx, 'p')} and p.courier_id = ${courierId}::uuid and p.user_code = ${from}
        and p.status <> 'received' limit ${most + 1}::int) as counted) as open,
    exists (select from prealert_renames r where ${ownRows(ctx, 'r')} and r.courier_id = ${courierId}::uuid
      and r.user_code in (${from}, ${to}) and r.customer_id <> ${customerId}::uuid) as "isBlocked"`;

/**
 * Gives pre-alerts of a customer the new code, with their audit entries. Chooses the open ones and received ones from one snapshot, and
 * locks them without their status, because intake may change it meanwhile. Locks in order of id, like every writer of several rows, to
 * avoid deadlocks. `is true` keeps PostgreSQL from finding them by the code again: after an upload its statistics know no row of the
 * code, and it compared each pre-alert of the code with each chosen one, 15 s for 30,000.
 *
 * @param most the most of each
 */
export function changeUserCode(
  ctx: UserScope,
  { courierId, from, to }: UserCodeChange,
  most: { open: number; received: number },
): Sql<{ count: number }> {
  const ofCode = sql`${ownRows(ctx, 'p')} and p.courier_id = ${courierId}::uuid and p.user_code = ${from}`;
  const facts = sql`select new_id() as id, 'prealert.user_code_changed' as action, 'prealert' as entity, changed.id as entity_id,
      jsonb_build_object('user_code', ${from}::text) as before, jsonb_build_object('user_code', ${to}::text) as after,
      null::text as remarks
    from changed`;
  return sql`with chosen as materialized (
      (select p.id from prealerts p where ${ofCode} and p.status <> 'received' order by p.id limit ${most.open}::int)
      union all
      (select p.id from prealerts p where ${ofCode} and p.status = 'received' order by p.id limit ${most.received}::int)
    ), found as (
      select p.tenant_id, p.id from chosen join prealerts p on ${ownRows(ctx, 'p')} and p.id = chosen.id
      where (p.courier_id = ${courierId}::uuid and p.user_code = ${from}) is true
      order by p.id for update of p
    ), changed as (
      update prealerts p set user_code = ${to}, updated_at = now()
      from found where p.tenant_id = found.tenant_id and p.id = found.id
      returning p.id
    ), audited as (${auditRows(ctx, facts)})
    select count(*)::int as count from changed`;
}

/** Counts the pre-alerts that still have the code, at most `most`. */
export const countUserCode = (
  ctx: UserScope,
  { courierId, from }: UserCodeChange,
  most: number,
): Sql<{ count: number }> =>
  once`select count(*)::int as count from (
      select from prealerts p where ${ownRows(ctx, 'p')} and p.courier_id = ${courierId}::uuid and p.user_code = ${from}
      limit ${most}::int) as counted`;

/** Leaves the pre-alerts that still have the code to the worker. */
export const insertRename = ({ tenantId }: UserScope, { customerId, courierId, from }: UserCodeChange): Sql =>
  once`insert into prealert_renames as r (tenant_id, courier_id, user_code, customer_id)
    values (${tenantId}::uuid, ${courierId}::uuid, ${from}, ${customerId}::uuid)
    on conflict (tenant_id, courier_id, user_code) do update set renamed_at = excluded.renamed_at
      where r.customer_id = excluded.customer_id`;

export type Rename = Pick<PrealertRename, 'courierId' | 'customerId' | 'userCode'>;

/** Selects an unfinished rename. By chance, so that one with many pre-alerts does not delay the others. */
export const anyRename = (ctx: SystemScope): Sql<Rename> =>
  once`select r.courier_id as "courierId", r.customer_id as "customerId", r.user_code as "userCode"
    from prealert_renames r where ${tenantRows(ctx, 'r')} order by random() limit 1`;

/** Keeps the customer's present code until the end of the transaction. */
export const keepCustomer = (ctx: SystemScope, id: string): Sql<Pick<Customer, 'userCode'>> =>
  once`select c.user_code as "userCode" from customers c where ${tenantRows(ctx, 'c')} and c.id = ${id}::uuid for share`;

const ofRename = (ctx: SystemScope, { courierId, userCode }: Rename): Sql =>
  sql`${tenantRows(ctx, 'r')} and r.courier_id = ${courierId}::uuid and r.user_code = ${userCode}`;

/** Locks an unfinished rename, unless another worker has it. */
export const lockRename = (ctx: SystemScope, rename: Rename): Sql =>
  once`select from prealert_renames r where ${ofRename(ctx, rename)} for update skip locked`;

/** Gives pre-alerts that were stored before the rename the customer's present code. */
export const continueRename = (
  ctx: SystemScope,
  rename: Rename,
  to: string,
  most: number,
): Sql<{ count: number }> =>
  once`with found as (
      select p.tenant_id, p.id from prealert_renames r
      join prealerts p on p.tenant_id = r.tenant_id and p.courier_id = r.courier_id and p.user_code = r.user_code
        and p.created_at <= r.renamed_at
      where ${ofRename(ctx, rename)}
      order by p.id limit ${most}::int for update of p
    ), changed as (
      update prealerts p set user_code = ${to}, updated_at = now()
      from found where p.tenant_id = found.tenant_id and p.id = found.id
      returning p.id
    )
    select count(*)::int as count from changed`;

export const deleteRename = (ctx: SystemScope, rename: Rename): Sql =>
  once`delete from prealert_renames r where ${ofRename(ctx, rename)}`;
