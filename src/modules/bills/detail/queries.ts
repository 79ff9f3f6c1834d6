import type { DataOf } from '../../../platform/contract/types.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { isCommonPage, limitTo, type PageQuery } from '../../../platform/db/pages.js';
import { once, onceIf, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import { maskedTrackingNumber } from '../../tracking-numbers/public.js';
import { billColumns, visibleBills, type BillRow, type BillScope } from '../shared/bill-row.js';
import { columns } from '../../../platform/db/columns.js';

const BILL = columns('Bill', 'b', { remarks: 'remarks', storedDueDate: 'dueDate' });
const BILL_PAYMENT = columns('BillPayment', 'p', [
  'id',
  'amountUsd',
  'method',
  'reference',
  'receivedOn',
  'recordedAt',
  'voidedAt',
  'voidReason',
]);
const BILL_LINE = columns('BillLine', 'l', [
  'id',
  'position',
  'kind',
  'description',
  'packageId',
  'houseNumber',
  'userCode',
  'receivedAt',
  'weightLb',
  'tier',
  'rateUsd',
  'amountUsd',
]);

type Detail = DataOf<'getCourierBill'>;

/** The issuer or the recipient as printed. Frozen by the publication. */
export type Party = {
  name: string;
  /** Only for a courier. */
  code?: string;
  company_name?: string | null;
  /** The address, line by line, without blank lines. */
  address: string[];
  phone: string | null;
  email: string | null;
};

/** `storedDueDate` is text. It is null for a draft, and for a bill that a release without due dates published. */
export type BillHeadRow = BillRow &
  Omit<RowOf<typeof BILL>, 'storedDueDate'> & {
    storedDueDate: string | null;
    billFrom: Party;
    billTo: Party;
  };

/** One bill that the caller may see, with its parties: the frozen ones, or the current ones of a draft. */
export function findBill(ctx: BillScope, billId: string): Sql<BillHeadRow> {
  return once`select ${billColumns(ctx)}, ${BILL},
      coalesce(b.bill_from, ${partyOfWarehouse}) as "billFrom", coalesce(b.bill_to, ${partyOfCourier}) as "billTo"
    from bills b
    join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = b.tenant_id and c.id = b.courier_id
    join tenants o on o.id = b.tenant_id
    left join warehouses w on ${tenantRows(ctx, 'w')} and w.tenant_id = b.tenant_id and w.is_primary
    where ${visibleBills(ctx)} and b.id = ${billId}::uuid`;
}

/** The primary warehouse, or the tenant if it has none. */
export const partyOfWarehouse = sql`jsonb_build_object('name', coalesce(w.name, o.name),
  'address', to_jsonb(array_remove(array[nullif(w.address, ''), nullif(w.city, ''), nullif(w.country, '')], null)),
  'phone', w.phone, 'email', w.email)`;

export const partyOfCourier = sql`jsonb_build_object('name', c.name, 'code', c.code, 'company_name', c.company_name,
  'address', to_jsonb(array_remove(array[nullif(c.address1, ''), nullif(c.address2, ''), nullif(c.city_town, ''),
    nullif(c.parish_province, '')], null)),
  'phone', c.phone_number1, 'email', c.email)`;

export type BillLineRow = RowOf<typeof BILL_LINE> & {
  kind: Detail['lines'][number]['kind'];
  trackingNumber: string | null;
};

/** One page of lines in the order of the bill. The hidden part of a number is never read for a courier. */
export function linesOfBill(ctx: BillScope, billId: string, page: PageQuery): Sql<BillLineRow> {
  const number =
    ctx.caller.courierId === null
      ? sql`l.tracking_number`
      : sql`case when l.user_code is not null then l.tracking_number else ${maskedTrackingNumber('l')} end`;
  return onceIf(isCommonPage(page))`select ${BILL_LINE}, ${number} as "trackingNumber"
    from bill_lines l join bills b on b.tenant_id = l.tenant_id and b.id = l.bill_id
    where ${ownRows(ctx, 'l')} and ${visibleBills(ctx)} and l.bill_id = ${billId}::uuid
    order by l.position ${limitTo(page)}`;
}

export const countOfLines = (ctx: BillScope, billId: string): Sql<{ total: number }> =>
  once`select count(*)::int as total
    from bill_lines l join bills b on b.tenant_id = l.tenant_id and b.id = l.bill_id
    where ${ownRows(ctx, 'l')} and ${visibleBills(ctx)} and l.bill_id = ${billId}::uuid`;

/** `receivedOn` is text. */
export type PaymentRow = Omit<RowOf<typeof BILL_PAYMENT>, 'receivedOn'> & {
  method: Detail['payments'][number]['method'];
  receivedOn: string;
};

/** All payments, including voided ones, oldest first. */
export const paymentsOfBill = (ctx: BillScope, billId: string): Sql<PaymentRow> =>
  once`select ${BILL_PAYMENT}
    from bill_payments p join bills b on b.tenant_id = p.tenant_id and b.id = p.bill_id
    where ${ownRows(ctx, 'p')} and ${visibleBills(ctx)} and p.bill_id = ${billId}::uuid
    order by p.recorded_at, p.id`;
