import { tenantRows } from '../../../platform/db/filters.js';
import type { SystemScope } from '../../../platform/db/scope.js';
import { once, sql, type Sql } from '../../../platform/db/statements.js';
import { addressKey } from '../address.js';
import type { NoticeLanguage, NoticeState } from '../settings-queries.js';
import { quietUntilOf } from '../telling/plan-queries.js';

export type Prepared = {
  /** How long the quiet hours last; null outside of them. */
  quietSeconds: number | null;
};

/** Stores by what the key of a queued mail's link is found. Returns no row for a mail that is settled. */
export const prepareMail = (ctx: SystemScope, mailId: string, keyHash: string): Sql<Prepared> => once`
  update notice_mails m set key_hash = ${keyHash} from notice_settings s
  where ${tenantRows(ctx, 'm')} and m.id = ${mailId}::uuid and m.status = 'queued'
    and ${tenantRows(ctx, 's')} and s.tenant_id = m.tenant_id and s.courier_id = m.courier_id
  returning ceil(extract(epoch from ${quietUntilOf(ctx)} - now()))::int as "quietSeconds"`;

export type MailRow = {
  recipient: string;
  language: NoticeLanguage;
  courierName: string;
  courierEmail: string | null;
  replyTo: string | null;
  signature: string | null;
  firstName: string;
  userCode: string;
  tenantName: string;
  tenantSlug: string;
  isSwitchedOn: boolean;
  isOptedOut: boolean;
  /** Whether the customer still has the address. */
  isAddressed: boolean;
};

/** No row if the mail no longer exists. */
export const selectMail = (ctx: SystemScope, mailId: string): Sql<MailRow> => once`
  select m.recipient, m.language, c.name as "courierName", c.email as "courierEmail", s.reply_to as "replyTo", s.signature,
    cu.first_name as "firstName", cu.user_code as "userCode", t.name as "tenantName", t.slug as "tenantSlug",
    s.is_enabled and s.sends_mail and c.is_active as "isSwitchedOn", coalesce(o.is_opted_out, false) as "isOptedOut",
    coalesce(${addressKey(sql`cu.email`)} = m.address_key, false) as "isAddressed"
  from notice_mails m
  join tenants t on t.id = m.tenant_id
  join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = m.tenant_id and c.id = m.courier_id
  join notice_settings s on ${tenantRows(ctx, 's')} and s.tenant_id = m.tenant_id and s.courier_id = m.courier_id
  join customers cu on ${tenantRows(ctx, 'cu')} and cu.tenant_id = m.tenant_id and cu.id = m.customer_id
  left join notice_choices o on ${tenantRows(ctx, 'o')} and o.tenant_id = m.tenant_id and o.courier_id = m.courier_id
    and o.address_key = m.address_key
  where ${tenantRows(ctx, 'm')} and m.id = ${mailId}::uuid`;

/** `total` is that of the state. */
export type ParcelRow = { state: NoticeState; trackingNumber: string; total: number };

/** The parcels of a mail that still belong to its customer. */
export const parcelsOfMail = (ctx: SystemScope, mailId: string, limit: number): Sql<ParcelRow> => once`
  select n.state, p.tracking_number as "trackingNumber", (count(*) over (partition by n.state))::int as total
  from notices n
  join customers cu on ${tenantRows(ctx, 'cu')} and cu.tenant_id = n.tenant_id and cu.id = n.customer_id
  join packages p on ${tenantRows(ctx, 'p')} and p.tenant_id = n.tenant_id and p.id = n.package_id and p.courier_id = n.courier_id
    and p.user_code = cu.user_code
  where ${tenantRows(ctx, 'n')} and n.mail_id = ${mailId}::uuid
  order by n.sequence desc, n.id limit ${limit}::int`;
