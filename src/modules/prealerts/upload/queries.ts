import { tenantRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';

export const courierExists = (ctx: UserScope, courierId: string): Sql =>
  sql`select from couriers c where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;
