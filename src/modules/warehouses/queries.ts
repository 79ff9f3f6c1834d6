import type { Warehouse } from '../../platform/db/models/types.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { columns } from '../../platform/db/columns.js';
import { tenantRows } from '../../platform/db/filters.js';
import { limitTo } from '../../platform/db/pages.js';
import { sql, type Sql } from '../../platform/db/statements.js';
import type { UserScope } from '../../platform/db/scope.js';

export const WAREHOUSE_FIELDS = [
  'id',
  'name',
  'address',
  'city',
  'country',
  'phone',
  'email',
  'isPrimary',
  'loadingGate',
  'weightQuestionLb',
  'createdAt',
] as const;
export type WarehouseRow = Pick<Warehouse, (typeof WAREHOUSE_FIELDS)[number]>;
/** The fields of a warehouse that staff may set. */
export type WarehouseFields = Omit<WarehouseRow, 'id' | 'isPrimary' | 'createdAt'>;
const COLUMNS = columns('Warehouse', 'w', WAREHOUSE_FIELDS);

/** SQL, so that page and count take one round trip. A tenant has a handful of warehouses. */
export function pageOfWarehouses(ctx: UserScope, query: QueryOf<'listWarehouses'>): Sql<WarehouseRow> {
  return sql`select ${COLUMNS} from warehouses w where ${tenantRows(ctx, 'w')}
    order by w.is_primary desc, w.name, w.id
    ${limitTo(query)}`;
}

export const countOfWarehouses = (ctx: UserScope): Sql<{ total: number }> =>
  sql`select count(*)::int as total from warehouses w where ${tenantRows(ctx, 'w')}`;

/** Only deletions use it. They are too rare for an index of packages by warehouse, which would slow down every intake. */
export const isWarehouseUsed = (ctx: UserScope, id: string): Sql<{ is_used: boolean }> =>
  sql`select exists (
      select from packages p where ${tenantRows(ctx, 'p')} and p.warehouse_id = ${id}::uuid
    ) or exists (
      select from manifests m where ${tenantRows(ctx, 'm')} and m.warehouse_id = ${id}::uuid
    ) as is_used`;
