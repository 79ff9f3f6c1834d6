import type { UserCaller } from '../../../platform/identity/callers.js';
import type { DataOf, QueryOf } from '../../../platform/contract/types.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { join, sql, type Db, type Sql } from '../../../platform/db/transaction.js';

export type BillQuery = QueryOf<'loadCourierBills'>;

/** Amounts and the rate are decimal text, dates are text. */
export type BillRow = {
  id: string;
  invoice_number: string;
  courier_id: string;
  courier_name: string;
  courier_code: string;
  service_type: string;
  start_date: string;
  end_date: string;
  total_packages: number;
  /** In percent. */
  tax_rate: string;
  subtotal: string;
  tax_amount: string;
  total_amount: string;
  paid_amount: string;
  balance: string;
  status: DataOf<'loadCourierBills'>[number]['status'];
  created_at: Date;
  published_at: Date | null;
};

/** Selects one page, newest first. The id breaks ties, so that no page repeats a bill. */
export function pageOfBills(db: Db, caller: UserCaller, query: BillQuery): Sql {
  return sql`select b.id, b.invoice_number, b.courier_id, c.name as courier_name, c.code as courier_code,
      b.service_type, b.start_date, b.end_date, b.total_packages, b.tax_rate, b.subtotal, b.tax_amount,
      b.total_amount, b.paid_amount, b.total_amount - b.paid_amount as balance, b.status, b.created_at, b.published_at
    from bills b
    join couriers c on ${tenantRows(db, caller, 'c')} and c.tenant_id = b.tenant_id and c.id = b.courier_id
    where ${matching(db, caller, query)}
    order by b.created_at desc, b.id desc
    limit ${query.limit}::int offset (${query.page}::bigint - 1) * ${query.limit}::bigint`;
}

export function countBills(db: Db, caller: UserCaller, query: BillQuery): Sql {
  return sql`select count(*)::int as total from bills b where ${matching(db, caller, query)}`;
}

function matching(db: Db, caller: UserCaller, query: BillQuery): Sql {
  const isStaff = caller.courierId === null;
  const conditions = [ownRows(db, caller, 'b')];
  // Row-level security enforces the same.
  if (!isStaff && db.applicationFilters) conditions.push(sql`b.status <> 'draft'`);
  // A courier only ever sees its own bills, whatever courier_id says.
  if (isStaff && query.courier_id) conditions.push(sql`b.courier_id = ${query.courier_id}::uuid`);
  if (query.status) conditions.push(sql`b.status = ${query.status}`);
  if (query.from) conditions.push(sql`b.end_date >= ${query.from}::date`);
  if (query.to) conditions.push(sql`b.start_date <= ${query.to}::date`);
  return join(conditions, ' and ');
}
