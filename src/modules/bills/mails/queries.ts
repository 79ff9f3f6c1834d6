import { columns } from '../../../platform/db/columns.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { limitTo, type PageQuery } from '../../../platform/db/pages.js';
import type { SystemScope, UserScope } from '../../../platform/db/scope.js';
import { sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import { currencyOf } from '../../tenant-settings/public.js';
import type { DataOf } from '../../../platform/contract/types.js';

type Mail = DataOf<'listBillMails'>[number];
export type Language = Mail['language'];

const BILL_MAIL = columns('BillMail', 'm', {
  mailId: 'id',
  billId: 'billId',
  courierId: 'courierId',
  recipient: 'recipient',
  language: 'language',
  status: 'status',
  error: 'lastError',
  requestedAt: 'createdAt',
  settledAt: 'settledAt',
});

/** A mail in the log. */
export type BillMailRow = RowOf<typeof BILL_MAIL> & {
  language: Language;
  status: Mail['status'];
  /** Null if the user no longer exists. */
  requestedBy: string | null;
};

const mailsOf = (ctx: UserScope, billId: string): Sql =>
  sql`${ownRows(ctx, 'm')} and m.bill_id = ${billId}::uuid`;

/** One page of the mails of a bill, newest first. */
export const pageOfMails = (ctx: UserScope, billId: string, page: PageQuery): Sql<BillMailRow> =>
  sql`select ${BILL_MAIL}, u.full_name as "requestedBy"
    from bill_mails m left join users u on ${tenantRows(ctx, 'u')} and u.id = m.requested_by
    where ${mailsOf(ctx, billId)} order by m.created_at desc, m.id desc ${limitTo(page)}`;

export const countOfMails = (ctx: UserScope, billId: string): Sql<{ total: number }> =>
  sql`select count(*)::int as total from bill_mails m where ${mailsOf(ctx, billId)}`;

/** How many mails with each of the bills were requested within 24 hours, failed ones included. Bills without any are left out. */
export const recentMailsOf = (ctx: UserScope, billIds: string[]): Sql<{ billId: string; total: number }> =>
  sql`select m.bill_id as "billId", count(*)::int as total from bill_mails m
    where ${ownRows(ctx, 'm')} and m.bill_id = any(${billIds}::uuid[]) and m.created_at > now() - interval '24 hours'
    group by m.bill_id`;

/** One row if the bill exists. */
export const billExists = (ctx: UserScope, billId: string): Sql<{ id: string }> =>
  sql`select b.id from bills b where ${ownRows(ctx, 'b')} and b.id = ${billId}::uuid`;

/** The recipient of a courier's bills. */
export type RecipientRow = {
  courierId: string;
  courierName: string;
  email: string | null;
  /** Of the latest mail with a bill to the courier; null if there was none. */
  lastLanguage: Language | null;
};

export const recipientsOf = (ctx: UserScope, courierIds: string[]): Sql<RecipientRow> =>
  sql`select c.id as "courierId", c.name as "courierName", c.email,
      (select m.language from bill_mails m
       where ${ownRows(ctx, 'm')} and m.courier_id = c.id
       order by m.created_at desc, m.id desc limit 1) as "lastLanguage"
    from couriers c where ${tenantRows(ctx, 'c')} and c.id = any(${courierIds}::uuid[])`;

/** The latest mail of a bill that was sent or is queued. `at` is when it was sent, or when it was queued. */
export type EffectiveMailRow = { billId: string; status: 'queued' | 'sent'; recipient: string; at: Date };

/** The latest effective mail of each of the bills that have one. */
export const effectiveMailsOf = (ctx: UserScope, billIds: string[]): Sql<EffectiveMailRow> =>
  sql`select distinct on (m.bill_id) m.bill_id as "billId", m.status, m.recipient,
      coalesce(m.settled_at, m.created_at) as at
    from bill_mails m
    where ${ownRows(ctx, 'm')} and m.bill_id = any(${billIds}::uuid[]) and m.status in ('queued', 'sent')
    order by m.bill_id, m.created_at desc, m.id desc`;

export type NewBillMail = {
  id: string;
  bill_id: string;
  courier_id: string;
  recipient: string;
  language: Language;
};

/** Stores queued mails, and returns them as in the log. */
export const insertBillMails = (ctx: UserScope, mails: NewBillMail[]): Sql<BillMailRow> =>
  sql`with m as (
      insert into bill_mails (tenant_id, id, bill_id, courier_id, recipient, language, requested_by)
      select ${ctx.tenantId}::uuid, mail.id, mail.bill_id, mail.courier_id, mail.recipient, mail.language, ${ctx.caller.userId}::uuid
      from jsonb_to_recordset(${JSON.stringify(mails)}::jsonb)
        as mail (id uuid, bill_id uuid, courier_id uuid, recipient text, language text)
      returning *)
    select ${BILL_MAIL}, u.full_name as "requestedBy"
    from m left join users u on ${tenantRows(ctx, 'u')} and u.id = m.requested_by`;

/** What the worker needs to write a mail. Dates and amounts are text. */
export type MailDataRow = {
  billId: string;
  courierId: string;
  recipient: string;
  language: Language;
  tenantName: string;
  courierCode: string;
  invoiceNumber: string;
  startDate: string;
  endDate: string;
  totalAmount: string;
  balance: string;
  currency: string;
  dueDate: string | null;
};

/** No row if the bill no longer exists. */
export const selectMailData = (ctx: SystemScope, mailId: string): Sql<MailDataRow> =>
  sql`select m.bill_id as "billId", m.courier_id as "courierId", m.recipient, m.language, t.name as "tenantName",
      c.code as "courierCode", b.invoice_number as "invoiceNumber", b.start_date::text as "startDate",
      b.end_date::text as "endDate", b.total_amount::text as "totalAmount",
      (b.total_amount - b.paid_amount)::text as balance, ${currencyOf(ctx)} as currency, b.due_date::text as "dueDate"
    from bill_mails m
    join tenants t on t.id = m.tenant_id
    join bills b on ${tenantRows(ctx, 'b')} and b.id = m.bill_id
    join couriers c on ${tenantRows(ctx, 'c')} and c.id = b.courier_id
    where ${tenantRows(ctx, 'm')} and m.id = ${mailId}::uuid`;
