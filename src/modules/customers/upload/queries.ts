import { auditRows } from '../../../platform/audit/audit.js';
import { ownRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { bulkFacts } from '../shared/bulk-audit.js';
import type { LikeCode } from '../shared/leading-zeros.js';
import { newLikeCodes } from '../shared/leading-zeros-queries.js';
import { BETWEEN_CELLS, BETWEEN_ROWS, UNCHANGED } from '../shared/packing.js';
import type { UploadedCustomer } from './upload-rows.js';

const cell = (n: number) => sql`split_part(line, ${BETWEEN_CELLS}, ${n}::integer)`;

/** Selects the customers of packed rows. */
function sentRows(packed: string): Sql {
  return sql`select ${cell(1)}::uuid as id, ${cell(2)} as user_code, ${cell(3)} as first_name, ${cell(4)} as last_name,
      nullif(nullif(${cell(5)}, ${UNCHANGED}), '') as branch, ${cell(5)} = ${UNCHANGED} as leaves_branch
    from string_to_table(${packed}, ${BETWEEN_ROWS}) as line`;
}

/**
 * Makes PostgreSQL join large files by hash until the end of the transaction. It expects 1,000 rows of any file and few customers of a
 * courier that has just got its first ones, and would compare every row of the file with every customer.
 */
export const withoutNestedLoops = sql`set local enable_nestloop = off`;

/** Selects the new customers whose code equals that of an existing one but for leading zeros, by row. */
export function likeNewCodes(
  ctx: UserScope,
  courierId: string,
  customers: UploadedCustomer[],
): Sql<LikeCode> {
  const codes = customers.map(({ userCode }) => userCode);
  const rows = customers.map(({ row }) => row);
  const sent = sql`select * from unnest(${codes}::text[], ${rows}::integer[]) as sent (user_code, position)`;
  return newLikeCodes(ctx, courierId, sent);
}

export type Applied = {
  created: number;
  updated: number;
  /**
   * The number of customers that were neither found nor created, because another transaction created them at
   * the same time.
   */
  missed: number;
};

/**
 * Writes the customers of a piece that are new or differ, with their audit entries, in one statement, so that the
 * table's triggers run once. All rows of a piece are locked and inserted in order of user code.
 */
export function applyUpload(
  ctx: UserScope,
  courierId: string,
  { packed, sha256, earlierParts }: { packed: string; sha256: string; earlierParts: number },
): Sql<Applied> {
  const branch = sql`case when sent.leaves_branch then stored.branch else sent.branch end`;
  const changes = sql`select user_code, null::jsonb as before,
        jsonb_build_array(user_code, first_name, last_name, branch) as after from created
      union all
      select user_code, before, after from updated`;
  const facts = bulkFacts(
    { action: 'customers.uploaded', courierId, sha256, remarks: 'upload', earlierParts },
    ['user_code', 'first_name', 'last_name', 'branch'],
    changes,
  );
  return sql`with sent as materialized (${sentRows(packed)}),
    stored as materialized (
      select c.id, c.user_code, c.first_name, c.last_name, c.branch
      from customers c join sent on sent.user_code = c.user_code
      where ${ownRows(ctx, 'c')} and c.courier_id = ${courierId}::uuid
      order by c.user_code for update of c
    ), created as (
      insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name, branch)
      select ${ctx.tenantId}::uuid, sent.id, ${courierId}::uuid, sent.user_code, sent.first_name, sent.last_name,
        sent.branch
      from sent left join stored on stored.user_code = sent.user_code where stored.id is null
      order by sent.user_code
      on conflict (tenant_id, courier_id, user_code) do nothing
      returning user_code, first_name, last_name, branch
    ), updated as (
      update customers c set first_name = sent.first_name, last_name = sent.last_name, branch = ${branch},
        updated_at = now()
      from stored join sent on sent.user_code = stored.user_code
      where ${ownRows(ctx, 'c')} and c.id = stored.id
        and (stored.first_name, stored.last_name, stored.branch) is distinct from (sent.first_name, sent.last_name, ${branch})
      returning c.user_code,
        jsonb_build_array(stored.user_code, stored.first_name, stored.last_name, stored.branch) as before,
        jsonb_build_array(c.user_code, c.first_name, c.last_name, c.branch) as after
    ), audited as (${auditRows(ctx, facts)})
    select (select count(*) from created)::integer as created, (select count(*) from updated)::integer as updated,
      ((select count(*) from sent) - (select count(*) from stored) - (select count(*) from created))::integer as missed`;
}

/** Selects the counts that applyUpload would return. */
export function compareUpload(ctx: UserScope, courierId: string, packed: string): Sql<Applied> {
  return sql`with sent as materialized (${sentRows(packed)})
    select count(*) filter (where c.id is null)::integer as created,
      count(*) filter (where c.id is not null and ((c.first_name, c.last_name) is distinct from
        (sent.first_name, sent.last_name)
        or (not sent.leaves_branch and c.branch is distinct from sent.branch)))::integer as updated, 0 as missed
    from sent left join customers c on ${ownRows(ctx, 'c')} and c.courier_id = ${courierId}::uuid
      and c.user_code = sent.user_code`;
}
