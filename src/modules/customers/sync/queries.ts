import { auditRows } from '../../../platform/audit/audit.js';
import { tenantRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { SystemScope } from '../../../platform/db/scope.js';
import type { LikeCode } from '../shared/leading-zeros.js';
import { newLikeCodes } from '../shared/leading-zeros-queries.js';
import { bulkFacts } from '../shared/bulk-audit.js';
import { BETWEEN_CELLS, BETWEEN_ROWS, UNCHANGED } from '../shared/packing.js';

export type AppliedSync = {
  created: number;
  updated: number;
  /**
   * The number of customers that were neither found nor created, because another transaction created them at
   * the same time.
   */
  missed: number;
  /** The number of new customers that were not created because a name is missing. */
  incomplete: number;
  /** The first of the incomplete ones, in the order of the list. */
  first_incomplete: { index: number; lacks: 'first_name' | 'last_name' }[];
};

/** A list of customers, packed as in sync-response.ts. */
export type ReceivedList = {
  courierId: string;
  packed: string;
  /** The hash of the whole response, in hexadecimal. */
  sha256: string;
};

const cell = (n: number) => sql`split_part(line, ${BETWEEN_CELLS}, ${n}::integer)`;
const left = (n: number) => sql`${cell(n)} = ${UNCHANGED}`;

/** Selects the customers of packed rows. A name to leave unchanged is null. */
function sentCustomers(packed: string): Sql {
  return sql`select ${cell(1)}::uuid as id, ${cell(2)}::integer as index, ${cell(3)} as user_code,
      nullif(${cell(4)}, ${UNCHANGED}) as first_name, nullif(${cell(5)}, ${UNCHANGED}) as last_name,
      nullif(nullif(${cell(6)}, ${UNCHANGED}), '') as branch, ${left(6)} as leaves_branch,
      nullif(nullif(${cell(7)}, ${UNCHANGED}), '') as email, ${left(7)} as leaves_email,
      nullif(${cell(8)}, ${UNCHANGED})::boolean as is_active
    from string_to_table(${packed}, ${BETWEEN_ROWS}) as line`;
}

/**
 * Writes a courier's customers that are new or differ, with their audit entries, in one statement, so that
 * the table's triggers run once. All rows are locked and inserted in order of user code.
 * @param maxIncomplete the maximum number of incomplete customers returned
 */
export function applySync(
  ctx: SystemScope,
  { courierId, packed, sha256 }: ReceivedList,
  maxIncomplete: number,
): Sql<AppliedSync> {
  const own = sql`${tenantRows(ctx, 'c')} and c.courier_id = ${courierId}::uuid`;
  const changes = sql`select user_code, null::jsonb as before,
        jsonb_build_array(user_code, first_name, last_name, branch, email, is_active) as after from created
      union all
      select user_code, before, after from updated`;
  const facts = bulkFacts(
    { action: 'customers.synchronised', courierId, sha256, remarks: 'sync' },
    ['user_code', 'first_name', 'last_name', 'branch', 'email', 'is_active'],
    changes,
  );
  return sql`with sent as materialized (${sentCustomers(packed)}),
    stored as materialized (
      select c.id, c.user_code, c.first_name, c.last_name, c.branch, c.email, c.is_active
      from customers c join sent on sent.user_code = c.user_code
      where ${own}
      order by c.user_code for update of c
    ), absent as materialized (
      select sent.* from sent left join stored on stored.user_code = sent.user_code where stored.id is null
    ), created as (
      insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name, branch, email, is_active)
      select ${ctx.tenantId}::uuid, id, ${courierId}::uuid, user_code, first_name, last_name, branch, email,
        coalesce(is_active, true)
      from absent where first_name is not null and last_name is not null
      order by user_code
      on conflict (tenant_id, courier_id, user_code) do nothing
      returning user_code, first_name, last_name, branch, email, is_active
    ), wanted as (
      select stored.id,
        jsonb_build_array(stored.user_code, stored.first_name, stored.last_name, stored.branch, stored.email, stored.is_active) as before,
        coalesce(sent.first_name, stored.first_name) as first_name,
        coalesce(sent.last_name, stored.last_name) as last_name,
        case when leaves_branch then stored.branch else sent.branch end as branch,
        case when leaves_email then stored.email else sent.email end as email,
        coalesce(sent.is_active, stored.is_active) as is_active
      from stored join sent on sent.user_code = stored.user_code
    ), updated as (
      update customers c set first_name = wanted.first_name, last_name = wanted.last_name, branch = wanted.branch,
        email = wanted.email, is_active = wanted.is_active, updated_at = now()
      from wanted
      where ${own} and c.id = wanted.id
        and (c.first_name, c.last_name, c.branch, c.email, c.is_active) is distinct from
          (wanted.first_name, wanted.last_name, wanted.branch, wanted.email, wanted.is_active)
      returning c.user_code, before,
        jsonb_build_array(c.user_code, c.first_name, c.last_name, c.branch, c.email, c.is_active) as after
    ), incomplete as (
      select index, case when first_name is null then 'first_name' else 'last_name' end as lacks
      from absent where first_name is null or last_name is null
    ), audited as (${auditRows(ctx, facts)})
    select (select count(*) from created)::integer as created, (select count(*) from updated)::integer as updated,
      ((select count(*) from absent) - (select count(*) from created) - (select count(*) from incomplete))::integer as missed,
      (select count(*) from incomplete)::integer as incomplete,
      (select coalesce(json_agg(named order by index), '[]') from
        (select index, lacks from incomplete order by index limit ${maxIncomplete}::integer) as named) as first_incomplete`;
}

/** Selects the customers of the list that have one of these codes. */
export const sentAmong = ({ packed }: ReceivedList, codes: string[]): Sql =>
  sql`select from (${sentCustomers(packed)}) as sent where sent.user_code = any(${codes}::text[]) limit 1`;

/** Selects the new customers of the list whose code equals that of an existing one but for leading zeros, by index. */
export const likeSentCodes = (ctx: SystemScope, { courierId, packed }: ReceivedList): Sql<LikeCode> =>
  newLikeCodes(
    ctx,
    courierId,
    // Others are not created.
    sql`select user_code, index as position from (${sentCustomers(packed)}) as sent
      where first_name is not null and last_name is not null`,
  );

/** Selects how many customers applySync would create or change. */
export function countSyncChanges(
  ctx: SystemScope,
  { courierId, packed }: ReceivedList,
): Sql<{ changes: number }> {
  return sql`with sent as materialized (${sentCustomers(packed)})
    select count(*)::integer as changes
    from sent left join customers c on ${tenantRows(ctx, 'c')} and c.courier_id = ${courierId}::uuid
      and c.user_code = sent.user_code
    where case when c.id is null then sent.first_name is not null and sent.last_name is not null
      else (c.first_name, c.last_name, c.branch, c.email, c.is_active) is distinct from
        (coalesce(sent.first_name, c.first_name), coalesce(sent.last_name, c.last_name),
         case when leaves_branch then c.branch else sent.branch end,
         case when leaves_email then c.email else sent.email end, coalesce(sent.is_active, c.is_active)) end`;
}
