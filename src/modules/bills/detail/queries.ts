import type { UserCaller } from '../../../platform/identity/callers.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../../platform/db/transaction.js';
import { maskedTrackingNumber } from '../../tracking-numbers/public.js';
import type { BillRow } from '../list/queries.js';

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

export type BillHeadRow = BillRow & {
  sequence_number: number | null;
  remarks: string | null;
  bill_from: Party;
  bill_to: Party;
};

/**
 * Selects one bill that the caller may see, with its parties: the frozen ones, or the current ones of a
 * draft.
 */
export function findBill(db: Db, caller: UserCaller, billId: string): Sql {
  return sql`select b.id, b.invoice_number, b.sequence_number, b.courier_id, c.name as courier_name,
      c.code as courier_code, b.service_type, b.start_date, b.end_date, b.total_packages, b.tax_rate, b.subtotal,
      b.tax_amount, b.total_amount, b.paid_amount, b.total_amount - b.paid_amount as balance, b.status, b.remarks, b.created_at, b.published_at,
      coalesce(b.bill_from, ${partyOfWarehouse}) as bill_from, coalesce(b.bill_to, ${partyOfCourier}) as bill_to
    from bills b
    join couriers c on ${tenantRows(db, caller, 'c')} and c.tenant_id = b.tenant_id and c.id = b.courier_id
    join tenants o on o.id = b.tenant_id
    left join warehouses w on ${tenantRows(db, caller, 'w')} and w.tenant_id = b.tenant_id and w.is_primary
    where ${visibleBills(db, caller)} and b.id = ${billId}::uuid`;
}

/**
 * The application's own filter: a courier sees only its own bills, and no drafts. Row-level security enforces
 * the same.
 */
export function visibleBills(db: Db, caller: UserCaller): Sql {
  const own = ownRows(db, caller, 'b');
  return caller.courierId !== null && db.applicationFilters ? sql`${own} and b.status <> 'draft'` : own;
}

/** The primary warehouse, or the tenant if it has none. */
export const partyOfWarehouse = sql`jsonb_build_object('name', coalesce(w.name, o.name),
  'address', to_jsonb(array_remove(array[nullif(w.address, ''), nullif(w.city, ''), nullif(w.country, '')], null)),
  'phone', w.phone, 'email', w.email)`;

export const partyOfCourier = sql`jsonb_build_object('name', c.name, 'code', c.code, 'company_name', c.company_name,
  'address', to_jsonb(array_remove(array[nullif(c.address1, ''), nullif(c.address2, ''), nullif(c.city_town, ''),
    nullif(c.parish_province, '')], null)),
  'phone', c.phone_number1, 'email', c.email)`;

/** Weights and amounts are decimal text. */
export type BillLineRow = {
  id: string;
  position: number;
  kind: 'package' | 'air_freight' | 'adjustment';
  description: string | null;
  package_id: string | null;
  tracking_number: string | null;
  house_number: string | null;
  user_code: string | null;
  received_at: Date | null;
  weight_lb: string | null;
  tier: string | null;
  rate_usd: string | null;
  amount_usd: string;
};

export type LinePage = { limit: number; offset: number };

/** Selects lines in the order of the bill. The hidden part of a number is never read for a courier. */
export function linesOfBill(db: Db, caller: UserCaller, billId: string, { limit, offset }: LinePage): Sql {
  const number =
    caller.courierId === null
      ? sql`l.tracking_number`
      : sql`case when l.user_code is not null then l.tracking_number else ${maskedTrackingNumber('l')} end`;
  return sql`select l.id, l.position, l.kind, l.description, l.package_id, ${number} as tracking_number,
      l.house_number, l.user_code, l.received_at, l.weight_lb, l.tier, l.rate_usd, l.amount_usd
    from bill_lines l join bills b on b.tenant_id = l.tenant_id and b.id = l.bill_id
    where ${ownRows(db, caller, 'l')} and ${visibleBills(db, caller)} and l.bill_id = ${billId}::uuid
    order by l.position limit ${limit}::int offset ${offset}::bigint`;
}

export function countLines(db: Db, caller: UserCaller, billId: string): Sql {
  return sql`select count(*)::int as total
    from bill_lines l join bills b on b.tenant_id = l.tenant_id and b.id = l.bill_id
    where ${ownRows(db, caller, 'l')} and ${visibleBills(db, caller)} and l.bill_id = ${billId}::uuid`;
}

export type PaymentRow = {
  id: string;
  amount_usd: string;
  method: 'bank_transfer' | 'card' | 'cash' | 'cheque' | 'other';
  reference: string | null;
  received_on: string;
  recorded_at: Date;
  voided_at: Date | null;
  void_reason: string | null;
};

/** Selects all payments, including voided ones, oldest first. */
export function paymentsOfBill(db: Db, caller: UserCaller, billId: string): Sql {
  return sql`select p.id, p.amount_usd, p.method, p.reference, p.received_on, p.recorded_at, p.voided_at, p.void_reason
    from bill_payments p join bills b on b.tenant_id = p.tenant_id and b.id = p.bill_id
    where ${ownRows(db, caller, 'p')} and ${visibleBills(db, caller)} and p.bill_id = ${billId}::uuid
    order by p.recorded_at, p.id`;
}
