import { tenantRows } from '../../../platform/db/filters.js';
import { once, sql, type RowOf, type OrNull, type Sql } from '../../../platform/db/statements.js';
import type { Scope, SystemScope } from '../../../platform/db/scope.js';
import { zoneOf } from '../../tenant-settings/public.js';
import { columns } from '../../../platform/db/columns.js';

const MANIFEST_MAIL = columns('ManifestMail', 'mail', ['manifestNumber', 'manifestStatus', 'createdAt']);
const TENANT = columns('Tenant', 't', { tenantName: 'name' });
const COURIER = columns('Courier', 'c', {
  courierCode: 'code',
  courierEmail: 'email',
  isCourierActive: 'isActive',
  houseColor: 'houseColor',
});
const MANIFEST = columns('Manifest', 'm', {
  manifestId: 'id',
  awbNumber: 'awbNumber',
  flightNumber: 'flightNumber',
});
const WAREHOUSE = columns('Warehouse', 'w', { warehouseName: 'name' });
const PACKAGE = columns('Package', 'p', ['trackingNumber', 'houseNumber', 'userCode', 'weightLb']);

/** The status change of a manifest that mails announce. */
export type ManifestStatusChange = {
  manifestId: string;
  manifestNumber: string;
  status: 'ready' | 'shipped' | 'completed';
};

/** The data of a mail. Columns of deleted records are null. */
export type MailDataRow = RowOf<typeof MANIFEST_MAIL> &
  RowOf<typeof TENANT> &
  OrNull<RowOf<typeof COURIER> & RowOf<typeof MANIFEST> & RowOf<typeof WAREHOUSE>> & {
    manifestStatus: ManifestStatusChange['status'];
    /** `YYYY-MM-DD` */
    flightDate: string | null;
    timeZone: string;
  };

/** `createdAt` is when the manifest reached the status. */
export const selectMailData = (ctx: SystemScope, mailId: string): Sql<MailDataRow> => sql`
  select ${MANIFEST_MAIL}, ${TENANT}, ${COURIER}, ${MANIFEST}, to_char(m.flight_date, 'YYYY-MM-DD') as "flightDate", ${WAREHOUSE},
    ${zoneOf(ctx)} as "timeZone"
  from manifest_mails mail
  join tenants t on t.id = mail.tenant_id
  left join couriers c on c.tenant_id = mail.tenant_id and c.id = mail.courier_id
  left join manifests m on m.tenant_id = mail.tenant_id and m.id = mail.manifest_id
  left join warehouses w on w.tenant_id = m.tenant_id and w.id = m.warehouse_id
  where ${tenantRows(ctx, 'mail')} and mail.id = ${mailId}::uuid`;

export type CargoRow = RowOf<typeof PACKAGE>;

/** Selects the courier's own packages on the manifest, in the order of GetManifest. */
export const selectCargo = (ctx: SystemScope, mailId: string, limit: number): Sql<CargoRow> => sql`
  select ${PACKAGE}
  from ${ownCargo(ctx, mailId)}
  order by p.received_at, p.id
  limit ${limit}`;

export type TotalsRow = { count: number; weightLb: string; weightKg: string };

export const selectTotals = (ctx: SystemScope, mailId: string): Sql<TotalsRow> => sql`
  select count(*)::int as count, coalesce(sum(p.weight_lb), 0) as "weightLb",
    round(coalesce(sum(p.weight_lb), 0) * 0.45359237, 3) as "weightKg"
  from ${ownCargo(ctx, mailId)}`;

const ownCargo = (ctx: SystemScope, mailId: string): Sql => sql`
    manifest_mails mail
    join packages p
      on p.tenant_id = mail.tenant_id and p.manifest_id = mail.manifest_id and p.courier_id = mail.courier_id
    where ${tenantRows(ctx, 'mail')} and mail.id = ${mailId}::uuid`;

/** Of a courier per UTC day. Whoever changes manifests could otherwise send any number of mails to an address that nobody has confirmed. */
export const MAILS_OF_COURIER = 60;

export const LIMIT_REACHED = `the courier has had ${MAILS_OF_COURIER} mails about manifests today`;

/** Of a courier about one status of a manifest within a day. A manifest that goes back to draft becomes ready again, and has other packages. */
const MAILS_OF_STATUS = 3;

/**
 * One statement for all couriers of a manifest. A courier that has had its mails about this status gets no further one. Mails above the
 * limit of a courier are stored as skipped. It locks the couriers' counters in the order of their ids, until the transaction ends.
 */
export const insertManifestMails = (
  tenantId: string,
  { manifestId, manifestNumber, status }: ManifestStatusChange,
  mails: { id: string; courier_id: string }[],
): Sql => once`
  with wanted as (
    select id, courier_id from jsonb_to_recordset(${JSON.stringify(mails)}::jsonb) as mail (id uuid, courier_id uuid)
    where ${MAILS_OF_STATUS}::int > (
      select count(*) from manifest_mails had
      where had.tenant_id = ${tenantId}::uuid and had.manifest_id = ${manifestId}::uuid and had.manifest_status = ${status}
        and had.courier_id = mail.courier_id and had.created_at > now() - interval '1 day')
  ), counted as (
    insert into courier_quotas as q (tenant_id, courier_id, kind, period_start, used)
    select ${tenantId}::uuid, courier_id, 'manifest_mails', date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', 1
    from wanted order by courier_id
    on conflict (tenant_id, courier_id, kind, period_start) do update set used = q.used + 1
    where q.used < ${MAILS_OF_COURIER}::int
    returning courier_id
  )
  insert into manifest_mails
    (tenant_id, id, courier_id, manifest_id, manifest_number, manifest_status, status, last_error, settled_at)
  select ${tenantId}::uuid, id, courier_id, ${manifestId}::uuid, ${manifestNumber}, ${status},
    case when counted.courier_id is null then 'skipped' else 'queued' end,
    case when counted.courier_id is null then ${LIMIT_REACHED} end,
    case when counted.courier_id is null then now() end
  from wanted left join counted using (courier_id)`;

/** Selects the payloads of the jobs that send the queued ones of these mails. */
export const selectMailJobs = (scope: Scope, mailIds: string[]): Sql => sql`
  select json_build_object('tenantId', mail.tenant_id, 'mailId', mail.id) as payload
  from manifest_mails mail
  where ${tenantRows(scope, 'mail')} and mail.id = any(${mailIds}::uuid[]) and mail.status = 'queued'`;
