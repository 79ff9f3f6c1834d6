import { raw, sql, type Sql } from '../../platform/db/statements.js';

/** Whether a mail has failed, and so recently that somebody should look. */
export const hasJustFailed = (alias: 'm'): Sql =>
  sql`${raw(alias)}.status = 'failed' and ${raw(alias)}.settled_at > now() - interval '7 days'`;
