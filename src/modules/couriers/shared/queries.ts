import { columns } from '../../../platform/db/columns.js';
import { tenantRows } from '../../../platform/db/filters.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import { CONTACT } from './profile.js';

/** The courier's name and contact details, of `couriers c`, under their names in the contract. */
export const CONTACT_COLUMNS = columns('Courier', 'c', {
  courier_id: 'id',
  courier_code: 'code',
  ...CONTACT,
});
export type ContactRow = RowOf<typeof CONTACT_COLUMNS>;

/** One row if the courier exists; none without an id. */
export const courierExists = (ctx: UserScope, courierId: string | null): Sql<{ id: string }> =>
  sql`select c.id from couriers c where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;
