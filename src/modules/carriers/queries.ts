import type { Carrier } from '../../platform/db/models/types.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { tenantRows } from '../../platform/db/filters.js';
import { limitTo } from '../../platform/db/pages.js';
import { sql, type Sql } from '../../platform/db/statements.js';
import type { UserScope } from '../../platform/db/scope.js';

export const CARRIER_FIELDS = ['id', 'name'] as const;
export type CarrierRow = Pick<Carrier, (typeof CARRIER_FIELDS)[number]>;

/** SQL, so that page and count take one round trip. A tenant has dozens of carriers: sorting them costs nothing. */
export function pageOfCarriers(ctx: UserScope, query: QueryOf<'listCarriers'>): Sql<CarrierRow> {
  return sql`select ca.id, ca.name from carriers ca where ${tenantRows(ctx, 'ca')}
    order by ca.name, ca.id ${limitTo(query)}`;
}

export const countOfCarriers = (ctx: UserScope): Sql<{ total: number }> =>
  sql`select count(*)::int as total from carriers ca where ${tenantRows(ctx, 'ca')}`;

export const isCarrierUsed = (ctx: UserScope, id: string): Sql<{ is_used: boolean }> =>
  sql`select exists (
      select from packages p where ${tenantRows(ctx, 'p')} and p.carrier_id = ${id}::uuid
    ) as is_used`;
