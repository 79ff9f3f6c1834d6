import { auditRows } from '../../../platform/audit/audit.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import type { PrealertRename } from '../../../platform/db/models/types.js';
import type { SystemScope, UserScope } from '../../../platform/db/scope.js';
import { empty, once, sql, type Sql } from '../../../platform/db/statements.js';

/** A change of a customer's user code. */
export type UserCodeChange = { customerId: string; courierId: string; from: string; to: string };

/** Counts the pre-alerts that have the code, at most `most`. */
export const countUserCode = (
  ctx: UserScope,
  { courierId, from }: UserCodeChange,
  most: number,
): Sql<{ count: number }> =>
  once`select count(*)::int as count from (
      select from prealerts p where ${ownRows(ctx, 'p')} and p.courier_id = ${courierId}::uuid and p.user_code = ${from}
      limit ${most}::int) as counted`;

/** Whether the rename would meet pre-alerts that still wait for the new code of another customer. */
export const isBlocked = (
  ctx: UserScope,
  { customerId, courierId, from, to }: UserCodeChange,
): Sql<{ isBlocked: boolean }> =>
  once`select exists (select from prealert_renames r where ${ownRows(ctx, 'r')} and r.courier_id = ${courierId}::uuid
      and (r.user_code in (${from}, ${to}) or r.new_user_code = ${from}) and r.customer_id <> ${customerId}::uuid) as "isBlocked"`;

const ofCustomer = (ctx: UserScope, { customerId, courierId }: UserCodeChange): Sql =>
  sql`${ownRows(ctx, 'r')} and r.courier_id = ${courierId}::uuid and r.customer_id = ${customerId}::uuid`;

/** Waits for the worker's piece, in order of the code, because two workers may have one each. */
export const lockRenames = (ctx: UserScope, change: UserCodeChange): Sql =>
  once`select r.user_code from prealert_renames r where ${ofCustomer(ctx, change)} order by r.user_code for update`;

/** Earlier renames of the customer lead to the new code, and none to the code that it has again. */
export const redirectRenames = (ctx: UserScope, change: UserCodeChange): [Sql, Sql] => [
  once`delete from prealert_renames r where ${ofCustomer(ctx, change)} and r.user_code = ${change.to}`,
  once`update prealert_renames r set new_user_code = ${change.to} where ${ofCustomer(ctx, change)}`,
];

/**
 * Gives some pre-alerts of a customer the new code, open ones first, with their audit entries. It leaves out those that another transaction has locked,
 * because others wait for the locks of the rename. The user-code locks keep new ones from being stored.
 */
export function changeUserCode(ctx: UserScope, { courierId, from, to }: UserCodeChange, most: number): Sql {
  const some = (condition: Sql) => sql`select p.tenant_id, p.id from prealerts p
      where ${ownRows(ctx, 'p')} and p.courier_id = ${courierId}::uuid and p.user_code = ${from} ${condition}
      order by p.id limit ${most}::int for update skip locked`;
  const facts = sql`select new_id() as id, 'prealert.user_code_changed' as action, 'prealert' as entity, changed.id as entity_id,
      jsonb_build_object('user_code', ${from}::text) as before, jsonb_build_object('user_code', ${to}::text) as after,
      null::text as remarks
    from changed`;
  return once`with open as (${some(sql`and p.status <> 'received'`)}), others as (${some(empty)}), changed as (
      update prealerts p set user_code = ${to}, updated_at = now()
      from (select * from open union select * from others) as found where p.tenant_id = found.tenant_id and p.id = found.id
      returning p.id
    )
    ${auditRows(ctx, facts)}`;
}

/** Leaves the pre-alerts that still have the code to the worker, if there are any. */
export const insertRename = (ctx: UserScope, { customerId, courierId, from, to }: UserCodeChange): Sql =>
  once`insert into prealert_renames (tenant_id, courier_id, user_code, customer_id, new_user_code)
    select ${ctx.tenantId}::uuid, ${courierId}::uuid, ${from}, ${customerId}::uuid, ${to}
    where exists (select from prealerts p
      where ${ownRows(ctx, 'p')} and p.courier_id = ${courierId}::uuid and p.user_code = ${from})`;

/** Codes of a courier that no new customer can get yet. */
export const findBlockedCodes = (
  ctx: UserScope | SystemScope,
  courierId: string,
): Sql<Pick<PrealertRename, 'userCode'>> =>
  once`select r.user_code as "userCode" from prealert_renames r
    where ${tenantRows(ctx, 'r')} and r.courier_id = ${courierId}::uuid order by r.user_code`;

export type Rename = Pick<PrealertRename, 'courierId' | 'customerId' | 'userCode'>;

/** Selects an unfinished rename. By chance, so that one with many pre-alerts does not delay the others. */
export const anyRename = (ctx: SystemScope): Sql<Rename> =>
  once`select r.courier_id as "courierId", r.customer_id as "customerId", r.user_code as "userCode"
    from prealert_renames r where ${tenantRows(ctx, 'r')} and r.new_user_code is not null order by random() limit 1`;

const ofRename = (ctx: SystemScope, { courierId, userCode }: Rename): Sql =>
  sql`${tenantRows(ctx, 'r')} and r.courier_id = ${courierId}::uuid and r.user_code = ${userCode}`;

/** Locks an unfinished rename and selects the code that the pre-alerts get, unless another worker has it. */
export const lockRename = (ctx: SystemScope, rename: Rename): Sql<{ to: string }> =>
  once`select r.new_user_code as "to" from prealert_renames r where ${ofRename(ctx, rename)} for update skip locked`;

/**
 * Gives pre-alerts the code. No other customer has had their code since the rename, so all of them are the customer's. It leaves out those
 * that another transaction has locked: a batch of scans locks them parcel by parcel, and the two would deadlock.
 */
export const continueRename = (
  ctx: SystemScope,
  { courierId, userCode }: Rename,
  to: string,
  most: number,
): Sql<{ id: string }> =>
  once`with found as (
      select p.tenant_id, p.id from prealerts p
      where ${tenantRows(ctx, 'p')} and p.courier_id = ${courierId}::uuid and p.user_code = ${userCode}
      order by p.id limit ${most}::int for update skip locked
    )
    update prealerts p set user_code = ${to}, updated_at = now()
    from found where p.tenant_id = found.tenant_id and p.id = found.id
    returning p.id`;

/** Ends a rename, unless pre-alerts still have the code. */
export const deleteRename = (ctx: SystemScope, rename: Rename): Sql =>
  once`delete from prealert_renames r where ${ofRename(ctx, rename)} and not exists (
    select from prealerts p where ${tenantRows(ctx, 'p')} and p.courier_id = r.courier_id and p.user_code = r.user_code)`;
