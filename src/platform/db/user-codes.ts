import { raw, sql, type Sql } from './statements.js';

/**
 * The present user code of a pre-alert's customer. After a rename the worker writes it to the pre-alerts, and until then the rename's row
 * names it (decision 0103). Select it, and compare with it, wherever a pre-alert's customer is shown or decides. No other customer can
 * get the previous code meanwhile.
 *
 * @param alias that of `prealerts` in the statement, or of a selection with its tenant_id, courier_id and user_code
 */
export const presentCode = (alias: string): Sql =>
  raw(`coalesce((select renamed.new_user_code from prealert_renames renamed where renamed.tenant_id = ${alias}.tenant_id
    and renamed.courier_id = ${alias}.courier_id and renamed.user_code = ${alias}.user_code), ${alias}.user_code)`);

/** The same as a column of a selected row. */
export const presentCodeColumn = (alias: string): Sql<{ userCode: string }> =>
  sql`${presentCode(alias)} as "userCode"`;
