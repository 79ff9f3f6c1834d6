import { sql, type Sql } from '../../../platform/db/statements.js';

export type BulkChange = {
  action: 'customers.uploaded' | 'customers.synchronised';
  courierId: string;
  /** The hash of the uploaded file or the response that caused the change. */
  sha256: string;
  remarks: 'upload' | 'sync';
  /** The number of entries of earlier statements of the same change. */
  earlierParts?: number;
};

const CUSTOMERS_PER_ENTRY = 500;

/** Returns the number of entries that a statement writes for its changed customers. */
export const countParts = (changed: number): number => Math.ceil(changed / CUSTOMERS_PER_ENTRY);

/**
 * Returns a selection of audit facts for `auditRows`: one per 500 customers in order of user code, with all
 * written values. One fact per customer took 0.9 KB of table and indexes (decision 0030).
 * @param columns the names of the values
 * @param changes selects user_code, before (null for a new customer) and after, both JSON arrays of the
 * values
 */
export function bulkFacts(
  { action, courierId, sha256, remarks, earlierParts = 0 }: BulkChange,
  columns: string[],
  changes: Sql,
): Sql {
  const names = JSON.stringify(columns);
  return sql`select new_id() as id, ${action} as action, 'courier' as entity, ${courierId}::uuid as entity_id,
      case when count(before) > 0 then jsonb_build_object('columns', ${names}::jsonb,
        'updated', jsonb_agg(before order by user_code) filter (where before is not null)) end as before,
      jsonb_build_object('columns', ${names}::jsonb, 'sha256', ${sha256}::text, 'part', part + ${earlierParts}::int,
        'created', coalesce(jsonb_agg(after order by user_code) filter (where before is null), '[]'),
        'updated', coalesce(jsonb_agg(after order by user_code) filter (where before is not null), '[]')) as after,
      ${remarks} as remarks
    from (
      select change.*, (row_number() over (order by user_code) - 1) / ${CUSTOMERS_PER_ENTRY}::int + 1 as part
      from (${changes}) as change
    ) as numbered
    group by part`;
}
