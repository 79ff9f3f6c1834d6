import { ownRows } from '../../../platform/db/filters.js';
import { once, sql, type RowOf, type OrNull, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { columns } from '../../../platform/db/columns.js';

const PACKAGE = columns('Package', 'p', [
  'houseNumber',
  'trackingNumber',
  'userCode',
  'firstName',
  'lastName',
  'receivedAt',
]);
const COURIER = columns('Courier', 'c', {
  courierCode: 'code',
  courierName: 'name',
  houseColor: 'houseColor',
});
const WAREHOUSE = columns('Warehouse', 'w', { warehouseName: 'name' });
const MANIFEST = columns('Manifest', 'm', ['manifestNumber']);
const SETTINGS = columns('TenantSettings', 'z', ['timeZone']);

export type LabelRow = RowOf<typeof PACKAGE> &
  RowOf<typeof WAREHOUSE> &
  OrNull<RowOf<typeof COURIER> & RowOf<typeof MANIFEST> & RowOf<typeof SETTINGS>> & { weightLb: string };

/** The columns of a LabelRow, from labelTables. */
export const labelColumns = sql`${PACKAGE}, p.weight_lb::text as "weightLb", ${COURIER}, ${WAREHOUSE}, ${MANIFEST}, ${SETTINGS}`;

export const labelTables = sql`(packages p
  join warehouses w on w.tenant_id = p.tenant_id and w.id = p.warehouse_id
  left join couriers c on c.tenant_id = p.tenant_id and c.id = p.courier_id
  left join manifests m on m.tenant_id = p.tenant_id and m.id = p.manifest_id
  left join tenant_settings z on z.tenant_id = p.tenant_id)`;

export const findLabel = (ctx: UserScope, packageId: string): Sql<LabelRow> =>
  once`select ${labelColumns} from ${labelTables} where ${ownRows(ctx, 'p')} and p.id = ${packageId}::uuid`;
