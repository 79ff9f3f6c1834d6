import type { UserCaller } from '../../../platform/identity/callers.js';
import { ownRows } from '../../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../../platform/db/transaction.js';

export type LabelRow = {
  house_number: string;
  tracking_number: string;
  user_code: string | null;
  first_name: string | null;
  last_name: string | null;
  weight_lb: string;
  received_at: Date;
  courier_code: string | null;
  courier_name: string | null;
  house_color: string | null;
  warehouse_name: string;
  manifest_number: string | null;
};

export function findLabel(db: Db, caller: UserCaller, packageId: string): Sql {
  return sql`select p.house_number, p.tracking_number, p.user_code, p.first_name, p.last_name, p.weight_lb::text,
      p.received_at, c.code as courier_code, c.name as courier_name, c.house_color, w.name as warehouse_name,
      m.manifest_number
    from packages p
    join warehouses w on w.tenant_id = p.tenant_id and w.id = p.warehouse_id
    left join couriers c on c.tenant_id = p.tenant_id and c.id = p.courier_id
    left join manifests m on m.tenant_id = p.tenant_id and m.id = p.manifest_id
    where ${ownRows(db, caller, 'p')} and p.id = ${packageId}::uuid`;
}
