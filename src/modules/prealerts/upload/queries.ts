import type { UserContext } from '../../../platform/context/request-context.js';
import { tenantRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';

export const courierExists = (ctx: UserContext, courierId: string): Sql =>
  sql`select from couriers c where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;
