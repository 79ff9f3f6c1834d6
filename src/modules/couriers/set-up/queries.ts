import { columns } from '../../../platform/db/columns.js';
import { tenantRows } from '../../../platform/db/filters.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { once, raw, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';

const PROFILE = columns('Courier', 'c', {
  email: 'email',
  phone_number1: 'phoneNumber1',
  address1: 'address1',
  city_town: 'cityTown',
});

export type SetUpRow = RowOf<typeof PROFILE> & {
  hasCustomer: boolean;
  hasPrealert: boolean;
  hasLogo: boolean;
  /** Whether there are two active users. */
  hasColleague: boolean;
  /** The number of webhook URLs. */
  urls: number;
  /** The number of those that have accepted nothing yet. A new URL begins without health. */
  untriedUrls: number;
};

/** Selects what the set-up of one courier is computed from. No part of it reads more than two rows by an index. */
export const selectSetUp = (ctx: UserScope, courierId: string): Sql<SetUpRow> => once`
  select ${PROFILE},
    exists (select from ${ofCourier(ctx, 'customers', 'k')} and k.is_active) as "hasCustomer",
    exists (select from ${ofCourier(ctx, 'prealerts', 'a')}) as "hasPrealert",
    exists (select from ${ofCourier(ctx, 'courier_logos', 'l')}) as "hasLogo",
    (select count(*) = 2 from (select from ${ofCourier(ctx, 'users', 'u')} and u.is_active limit 2) two) as "hasColleague",
    n.urls, n.untried as "untriedUrls"
  from couriers c cross join lateral (
    select count(*)::int as urls, count(*) filter (where not exists (
      select from ${ofCourier(ctx, 'webhook_endpoints', 'e')} and e.endpoint = x.endpoint and e.last_success_at is not null
    ))::int as untried
    from (values ('add_package', c.api_url_add_package), ('update_package', c.api_url_update_package)) x (endpoint, url)
    where x.url is not null
  ) n
  where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;

/** The rows of a table that belong to the courier `c`. */
const ofCourier = (ctx: UserScope, table: string, alias: string): Sql =>
  sql`${raw(table)} ${raw(alias)} where ${tenantRows(ctx, alias)}
    and ${raw(alias)}.tenant_id = c.tenant_id and ${raw(alias)}.courier_id = c.id`;
