import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import type { ColumnsOf, Customer, Package } from '../../../platform/db/models/types.js';
import { once, sql, type Sql } from '../../../platform/db/statements.js';
import { isFormerCode, presentCode } from '../../../platform/db/user-codes.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { keyIn } from '../../tracking-numbers/public.js';
import { columns } from '../../../platform/db/columns.js';

const PACKAGE = columns('Package', 'p', ['id', 'shipper', 'description', 'trackingKey', 'receivedAt']);

/** The columns that a claim may change. */
export type ClaimedColumns = ColumnsOf<
  Pick<
    Package,
    'courierId' | 'userCode' | 'firstName' | 'lastName' | 'shipper' | 'description' | 'prealertId'
  >
>;

export type ClaimedRow = ClaimedColumns &
  Pick<Package, 'id' | 'trackingKey' | 'receivedAt'> & {
    /** The package's user code is that of the pre-alert's customer, or one that the customer had. Null without a code. */
    isCustomers: boolean | null;
  };

/**
 * Selects and locks the packages that have one of a parcel's keys: several can have a short number.
 *
 * @param userCode the present code of the pre-alert's customer
 */
export function lockedParcelPackages(ctx: UserScope, keys: string[], userCode: string): Sql<ClaimedRow> {
  const code = sql`${userCode}::text`;
  return once`select ${PACKAGE}, p.courier_id, p.user_code, p.first_name, p.last_name, p.prealert_id,
      p.user_code = ${code} or ${isFormerCode('p', code)} as "isCustomers"
    from packages p where ${tenantRows(ctx, 'p')} and ${keyIn('p', keys)} order by p.id for no key update`;
}

/** Selects the active customer of a pre-alert. In one statement, because the customer may be renamed between two. */
export const customerOfPrealert = (
  ctx: UserScope,
  id: string,
): Sql<Pick<Customer, 'userCode' | 'firstName' | 'lastName'>> =>
  once`select c.user_code as "userCode", c.first_name as "firstName", c.last_name as "lastName"
    from prealerts a
    join customers c on ${ownRows(ctx, 'c')} and c.tenant_id = a.tenant_id and c.courier_id = a.courier_id
      and c.user_code = ${presentCode('a')} and c.is_active
    where ${ownRows(ctx, 'a')} and a.id = ${id}::uuid`;

export function changeOwner(ctx: UserScope, id: string, columns: ClaimedColumns): Sql {
  return once`update packages p set courier_id = ${columns.courier_id}::uuid, user_code = ${columns.user_code},
      first_name = ${columns.first_name}, last_name = ${columns.last_name}, shipper = ${columns.shipper},
      description = ${columns.description}, prealert_id = ${columns.prealert_id}::uuid, updated_at = now()
    where ${tenantRows(ctx, 'p')} and p.id = ${id}::uuid`;
}
