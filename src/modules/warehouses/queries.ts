import type { Warehouse } from '../../platform/db/models/types.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { tenantRows } from '../../platform/db/filters.js';
import { limitTo } from '../../platform/db/pages.js';
import { raw, sql, type Sql } from '../../platform/db/statements.js';
import type { UserScope } from '../../platform/db/scope.js';

export type WarehouseRow = Omit<Warehouse, 'tenantId'>;

/** The fields of a warehouse that staff may set. */
export type WarehouseFields = Omit<WarehouseRow, 'id' | 'isPrimary' | 'createdAt'>;

const COLUMNS = raw(
  `w.id, w.name, w.address, w.city, w.country, w.phone, w.email, w.is_primary as "isPrimary",
  w.loading_gate as "loadingGate", w.weight_question_lb as "weightQuestionLb", w.created_at as "createdAt"`,
);

/** SQL, so that page and count take one round trip. A tenant has a handful of warehouses. */
export function pageOfWarehouses(ctx: UserScope, query: QueryOf<'listWarehouses'>): Sql<WarehouseRow> {
  return sql`select ${COLUMNS} from warehouses w where ${tenantRows(ctx, 'w')}
    order by w.is_primary desc, w.name, w.id
    ${limitTo(query)}`;
}

export const countOfWarehouses = (ctx: UserScope): Sql<{ total: number }> =>
  sql`select count(*)::int as total from warehouses w where ${tenantRows(ctx, 'w')}`;

/** Locks the warehouse until the transaction ends. Concurrent insertions that refer to it wait. */
export const lockedWarehouse = (ctx: UserScope, id: string): Sql<WarehouseRow> =>
  sql`select ${COLUMNS} from warehouses w where ${tenantRows(ctx, 'w')} and w.id = ${id}::uuid for update`;

/** Only deletions use it. They are too rare for an index of packages by warehouse, which would slow down every intake. */
export const isWarehouseUsed = (ctx: UserScope, id: string): Sql<{ is_used: boolean }> =>
  sql`select exists (
      select from packages p where ${tenantRows(ctx, 'p')} and p.warehouse_id = ${id}::uuid
    ) or exists (
      select from manifests m where ${tenantRows(ctx, 'm')} and m.warehouse_id = ${id}::uuid
    ) as is_used`;
