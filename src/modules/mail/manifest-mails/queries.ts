import { tenantRows } from '../../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../../platform/db/transaction.js';
import type { SystemCaller } from '../../../platform/identity/callers.js';
import type { ManifestStatusChange } from './queue-manifest-mail.js';

// node-postgres returns a numeric as text.

type Scope = { db: Db; caller: SystemCaller };

/** The data of a mail. Deleted records are null. */
export type MailDataRow = {
  manifest_number: string;
  manifest_status: ManifestStatusChange['status'];
  /** When the manifest reached this status. */
  created_at: Date;
  tenant_name: string;
  courier_name: string | null;
  courier_email: string | null;
  courier_is_active: boolean | null;
  house_color: string | null;
  manifest_id: string | null;
  awb_number: string | null;
  flight_number: string | null;
  flight_date: string | null;
  warehouse_name: string | null;
};

export function selectMailData({ db, caller }: Scope, mailId: string): Sql {
  return sql`
    select mail.manifest_number, mail.manifest_status, mail.created_at, t.name as tenant_name,
      c.name as courier_name, c.email as courier_email, c.is_active as courier_is_active, c.house_color,
      m.id as manifest_id, m.awb_number, m.flight_number, to_char(m.flight_date, 'YYYY-MM-DD') as flight_date,
      w.name as warehouse_name
    from manifest_mails mail
    join tenants t on t.id = mail.tenant_id
    left join couriers c on c.tenant_id = mail.tenant_id and c.id = mail.courier_id
    left join manifests m on m.tenant_id = mail.tenant_id and m.id = mail.manifest_id
    left join warehouses w on w.tenant_id = m.tenant_id and w.id = m.warehouse_id
    where ${tenantRows(db, caller, 'mail')} and mail.id = ${mailId}::uuid`;
}

export type CargoRow = {
  tracking_number: string;
  house_number: string;
  user_code: string | null;
  first_name: string | null;
  last_name: string | null;
  weight_lb: string;
};

/** Selects the courier's own packages on the manifest, in the order of GetManifest. */
export function selectCargo(scope: Scope, mailId: string, limit: number): Sql {
  return sql`
    select p.tracking_number, p.house_number, p.user_code, p.first_name, p.last_name, p.weight_lb
    from ${ownCargo(scope, mailId)}
    order by p.received_at, p.id
    limit ${limit}`;
}

export type TotalsRow = { count: number; weight_lb: string; weight_kg: string };

export function selectTotals(scope: Scope, mailId: string): Sql {
  return sql`
    select count(*)::int as count, coalesce(sum(p.weight_lb), 0) as weight_lb,
      round(coalesce(sum(p.weight_lb), 0) * 0.45359237, 3) as weight_kg
    from ${ownCargo(scope, mailId)}`;
}

const ownCargo = ({ db, caller }: Scope, mailId: string): Sql => sql`
    manifest_mails mail
    join packages p
      on p.tenant_id = mail.tenant_id and p.manifest_id = mail.manifest_id and p.courier_id = mail.courier_id
    where ${tenantRows(db, caller, 'mail')} and mail.id = ${mailId}::uuid`;
