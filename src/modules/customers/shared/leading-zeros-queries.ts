import { tenantRows, type FilterScope } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { LikeCode } from './leading-zeros.js';

/** The maximum length of `isNumericCode`. */
const MAX_DIGITS = 20;

/** Warnings name no more rows. */
const MAX_CODES = 100;

type Scope = FilterScope<{ tenantId: string }>;

/**
 * Selects the numeric codes that equal the code of another customer of the courier but for leading zeros, in order of position.
 * Looks up each number of zeros, because row-level security lets no expression of a column use an index.
 *
 * @param sent selects user_code and position
 */
export const likeCodes = (scope: Scope, courierId: string, sent: Sql): Sql<LikeCode> =>
  sql`select spelled.position, spelled.user_code, min(c.user_code) as existing
    from (
      select sent.position, sent.user_code, lpad(ltrim(sent.user_code, '0'),
        generate_series(length(ltrim(sent.user_code, '0')), ${MAX_DIGITS}::integer), '0') as other
      from (${sent}) as sent where sent.user_code ~ '^[0-9]{1,20}$'
    ) as spelled
    join customers c on ${tenantRows(scope, 'c')} and c.courier_id = ${courierId}::uuid and c.user_code = spelled.other
    where spelled.other <> spelled.user_code
    group by spelled.position, spelled.user_code
    order by spelled.position limit ${MAX_CODES}::integer`;

/** The same for the codes that no customer of the courier has yet. */
export const newLikeCodes = (scope: Scope, courierId: string, sent: Sql): Sql<LikeCode> =>
  likeCodes(
    scope,
    courierId,
    sql`select each.user_code, each.position from (${sent}) as each
      where not exists (select from customers known where ${tenantRows(scope, 'known')}
        and known.courier_id = ${courierId}::uuid and known.user_code = each.user_code)`,
  );
