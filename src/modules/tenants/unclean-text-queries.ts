import type { SystemContext } from '../../platform/context/request-context.js';
import { tenantRows } from '../../platform/db/filters.js';
import { sql, type Sql } from '../../platform/db/statements.js';

// What src/platform/values/text-rules.ts removes or refuses, as a pattern of PostgreSQL.
const UNCLEAN = String.raw`^[\s\u00a0\u3000]|[\s\u00a0\u3000]$|[\u0001-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]`;
const SHORTENED = String.raw`^[+-]?[0-9]+([.,][0-9]*)?[Ee]\+[0-9]{1,3}$`;

export type UncleanTexts = { codes: number; shortenedCodes: number; shortenedNumbers: number };

/** Counts texts that were stored before the rules of texts, and that requests can no longer name. */
export function countUncleanTexts(ctx: SystemContext): Sql<UncleanTexts> {
  return sql`select
    (select count(*) from customers c where ${tenantRows(ctx, 'c')} and c.user_code ~ ${UNCLEAN})::int as codes,
    (select count(*) from customers c where ${tenantRows(ctx, 'c')} and c.user_code ~ ${SHORTENED})::int
      as "shortenedCodes",
    (select count(*) from prealerts p where ${tenantRows(ctx, 'p')} and p.status = 'pending'
      and p.tracking_number ~ ${SHORTENED})::int as "shortenedNumbers"`;
}
