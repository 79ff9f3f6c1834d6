import type { components } from '../../../../generated/contract.js';
import { columns } from '../../../platform/db/columns.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { once, sql, type OrNull, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { presentCode, presentCodeColumn } from '../../../platform/db/user-codes.js';
import { keyIn } from '../../tracking-numbers/public.js';
import type { PackageStatus } from '../events/transitions.js';

const PACKAGE = columns('Package', 'p', [
  'id',
  'trackingNumber',
  'trackingKey',
  'houseNumber',
  'status',
  'courierId',
  'userCode',
  'firstName',
  'lastName',
  'prealertId',
  'weightLb',
  'lengthIn',
  'widthIn',
  'heightIn',
  'packageType',
  'shipper',
  'description',
  'carrierId',
  'warehouseId',
  'receivedAt',
  'updatedAt',
]);
const COURIER = columns('Courier', 'c', { courierCode: 'code', courierName: 'name' });
const CARRIER = columns('Carrier', 'r', { carrierName: 'name' });
const WAREHOUSE = columns('Warehouse', 'w', { warehouseName: 'name' });

type Schemas = components['schemas'];

export type DetailRow = Omit<RowOf<typeof PACKAGE>, 'status'> &
  RowOf<typeof WAREHOUSE> &
  OrNull<RowOf<typeof COURIER> & RowOf<typeof CARRIER>> & {
    status: PackageStatus;
    isClaimed: boolean;
    customer: Schemas['PackageCustomer'];
    manifest: Schemas['PackageManifest'];
    bill: Schemas['PackageBill'];
    reference: string | null;
    receivedWeightLb: string | null;
    location: string | null;
  };

/** Selects the package with this id or house number, and the records that it refers to, of those that the caller may see. */
export function findDetail(ctx: UserScope, key: { id: string } | { houseNumber: string }): Sql<DetailRow> {
  const isForStaff = ctx.caller.courierId === null;
  const isMeant = 'id' in key ? sql`p.id = ${key.id}::uuid` : sql`p.house_number = ${key.houseNumber}`;
  return once`select ${PACKAGE}, p.claimed_by is not null as "isClaimed", ${COURIER}, ${CARRIER}, ${WAREHOUSE},
      case when u.id is not null then jsonb_build_object('customer_id', u.id, 'first_name', u.first_name,
        'last_name', u.last_name, 'branch', u.branch, 'is_active', u.is_active) end as customer,
      case when m.id is not null then jsonb_build_object('manifest_id', m.id, 'manifest_number', m.manifest_number,
        'status', m.status, 'awb_number', m.awb_number, 'flight_date', m.flight_date, 'flight_number', m.flight_number) end as manifest,
      case when b.id is not null then jsonb_build_object('bill_id', b.id, 'invoice_number', b.invoice_number,
        'status', b.status, 'amount', l.amount_usd) end as bill,
      case when ${isForStaff}::boolean then coalesce(x.received_weight_lb, p.weight_lb) end as "receivedWeightLb",
      case when ${isForStaff}::boolean then o.location end as location, a.reference
    from packages p
    join warehouses w on ${tenantRows(ctx, 'w')} and w.tenant_id = p.tenant_id and w.id = p.warehouse_id
    left join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = p.tenant_id and c.id = p.courier_id
    left join prealerts a on ${ownRows(ctx, 'a')} and a.tenant_id = p.tenant_id and a.id = p.prealert_id
      and a.courier_id = p.courier_id
    left join customers u on ${ownRows(ctx, 'u')} and u.tenant_id = p.tenant_id and u.courier_id = p.courier_id
      and u.user_code = p.user_code
    left join carriers r on ${tenantRows(ctx, 'r')} and r.tenant_id = p.tenant_id and r.id = p.carrier_id
    left join manifests m on ${tenantRows(ctx, 'm')} and m.tenant_id = p.tenant_id and m.id = p.manifest_id
    left join package_weights x on ${tenantRows(ctx, 'x')} and x.tenant_id = p.tenant_id and x.package_id = p.id
    left join parcel_positions o on ${tenantRows(ctx, 'o')} and o.tenant_id = p.tenant_id and o.parcel_key = p.tracking_key
    left join bill_lines l on ${ownRows(ctx, 'l')} and l.tenant_id = p.tenant_id and l.package_id = p.id
    left join bills b on ${ownRows(ctx, 'b')} and b.tenant_id = l.tenant_id and b.id = l.bill_id
      and (${isForStaff}::boolean or b.status <> 'draft')
    where ${ownRows(ctx, 'p')} and ${isMeant}`;
}

const PREALERT = columns('Prealert', 'a', ['id', 'courierId', 'trackingNumber', 'vendor', 'createdAt']);
const CLAIMANT = columns('Courier', 'c', { courierName: 'name' });
const CLAIMED_FOR = columns('Customer', 'u', ['firstName', 'lastName']);

export type ClaimRow = RowOf<typeof PREALERT> &
  RowOf<typeof CLAIMANT> &
  OrNull<RowOf<typeof CLAIMED_FOR>> & { userCode: string; status: Schemas['PrealertStatus'] };

/** The most pre-alerts of a package that are returned. */
const MAX_CLAIMS = sql`50`;

/** Selects the pre-alerts of a parcel's keys, oldest first. */
export const findClaims = (ctx: UserScope, keys: string[]): Sql<ClaimRow> =>
  once`select ${PREALERT}, a.status, ${presentCodeColumn('a')}, ${CLAIMANT}, ${CLAIMED_FOR}
    from prealerts a
    join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = a.tenant_id and c.id = a.courier_id
    left join customers u on ${ownRows(ctx, 'u')} and u.tenant_id = a.tenant_id and u.courier_id = a.courier_id
      and u.user_code = ${presentCode('a')}
    where ${ownRows(ctx, 'a')} and ${keyIn('a', keys)}
    order by a.created_at, a.id limit ${MAX_CLAIMS}`;
