import { tenantRows } from '../../platform/db/filters.js';
import { sql, type Sql } from '../../platform/db/statements.js';
import type { SystemScope } from '../../platform/db/scope.js';

// What src/platform/values/text-rules.ts removes or refuses, as a pattern of PostgreSQL.
const EDGES = String.raw`^[\s\u00a0\u3000]|[\s\u00a0\u3000]$`;
// The ranges of Default_Ignorable_Code_Point, which PostgreSQL does not know, and control characters, U+2028, U+2029 and U+2800.
const INSIDE = String.raw`[\u0001-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]`;
const UNCLEAN = `${EDGES}|${INSIDE}`;
const SHORTENED = String.raw`^[+-]?[0-9]+([.,][0-9]*)?[Ee]\+[0-9]{1,3}$|^[0-9][.,][0-9]+[Ee]([7-9]|[0-9]{2,3})$|^[0-9]{4,}[.,]0{1,2}$`;

export type UncleanTexts = { codes: number; shortenedCodes: number; shortenedNumbers: number };

/** Counts texts that were stored before the rules of texts, and that requests can no longer name. */
export function countUncleanTexts(ctx: SystemScope): Sql<UncleanTexts> {
  return sql`select
    (select count(*) from customers c where ${tenantRows(ctx, 'c')} and c.user_code ~ ${UNCLEAN})::int as codes,
    (select count(*) from customers c where ${tenantRows(ctx, 'c')} and c.user_code ~ ${SHORTENED})::int
      as "shortenedCodes",
    (select count(*) from prealerts p where ${tenantRows(ctx, 'p')} and p.status = 'pending'
      and p.tracking_number ~ ${SHORTENED})::int as "shortenedNumbers"`;
}
