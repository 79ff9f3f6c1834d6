import type { UserContext } from '../../platform/context/request-context.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { ApiError, invalidFieldError } from '../../platform/errors/errors.js';
import {
  countOfLines,
  findBill,
  linesOfBill,
  paymentsOfBill,
  type BillHeadRow,
  type BillLineRow,
  type PaymentRow,
} from './detail/queries.js';
import { readPage, type Page } from '../../platform/context/read-page.js';
import type { BillRow } from './shared/bill-row.js';
import { countOfBills, pageOfBills, type BillQuery } from './list/queries.js';
import { targetCourierId } from '../couriers/public.js';
import { figuresOfAccount, pageOfMovements, type AccountRow, type MovementRow } from './statement/queries.js';

/**
 * Returns stored bills: all couriers for staff; for a courier its own, without drafts.
 * @throws ApiError validation_failed
 */
export async function listBills(ctx: UserContext, query: BillQuery): Promise<Page<BillRow>> {
  if (query.from && query.to && query.to < query.from) {
    throw invalidFieldError('to', 'before', { other: 'from' });
  }
  return readPage(ctx, pageOfBills(ctx, query), countOfBills(ctx, query));
}

export type BillDetail = {
  query: QueryOf<'getCourierBill'>;
  bill: BillHeadRow;
  lines: BillLineRow[];
  totalLines: number;
  payments: PaymentRow[];
};

/**
 * Returns a bill with one page of its lines and all payments.
 * @throws ApiError bill_not_found, also if the courier may not see the bill
 */
export async function readBill(ctx: UserContext, query: QueryOf<'getCourierBill'>): Promise<BillDetail> {
  const { bill_id: billId } = query;
  const [[bill], lines, [counted], payments] = await ctx.read([
    findBill(ctx, billId),
    linesOfBill(ctx, billId, query),
    countOfLines(ctx, billId),
    paymentsOfBill(ctx, billId),
  ]);
  if (!bill) throw new ApiError('bill_not_found');
  return { query, bill, lines, totalLines: counted?.total ?? 0, payments };
}

export type StatementQuery = QueryOf<'getCourierStatement'>;

export type Statement = { query: StatementQuery; account: AccountRow; movements: MovementRow[] };

/**
 * Returns a courier's account over a period: of any courier for staff; for a courier its own, whatever id it
 * sends.
 * @throws ApiError validation_failed, courier_not_found
 */
export async function readStatement(ctx: UserContext, query: StatementQuery): Promise<Statement> {
  const courierId = targetCourierId(ctx.caller, query.courier_id);
  if (query.to < query.from) throw invalidFieldError('to', 'before', { other: 'from' });
  const period = { courierId, from: query.from, to: query.to };
  const [[account], movements] = await ctx.read(
    [figuresOfAccount(ctx, period), pageOfMovements(ctx, period, query)],
    { from: 'replica' },
  );
  if (!account) throw new ApiError('courier_not_found');
  return { query, account, movements };
}
