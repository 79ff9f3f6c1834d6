import type { UserContext } from '../../../platform/context/request-context.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import { parseDate } from '../../../platform/values/time.js';
import { courierExists } from '../../couriers/public.js';
import { checkBills, type CheckRow } from './check-queries.js';
import { pageOfExceptions, type ExceptionRow } from './exception-queries.js';
import { countReceived, figuresOfPackages, type FiguresRow } from './figures-queries.js';

export type ReconciliationQuery = QueryOf<'getBillingReconciliation'>;

export type Reconciliation = {
  query: ReconciliationQuery;
  figures: FiguresRow[];
  received: number;
  checks: CheckRow[];
  exceptions: ExceptionRow[];
  nextBefore: string | null;
};

const MAX_DAYS = 366;
const DAY_MS = 86_400_000;

/**
 * Compares the packages received in a period with the bills, and checks the bills themselves, in one
 * snapshot.
 * @throws ApiError validation_failed, courier_not_found
 */
export async function reconcile(ctx: UserContext, query: ReconciliationQuery): Promise<Reconciliation> {
  const { courier_id: courierId, from, to, before, limit } = query;
  if (to < from) throw invalidFieldError('to', 'before', { other: 'from' });
  if (parseDate(to).getTime() - parseDate(from).getTime() >= MAX_DAYS * DAY_MS) {
    throw invalidFieldError('to', 'too_long_after', { days: MAX_DAYS - 1, other: 'from' });
  }
  const period = { courierId, from, to };
  const [[courier], figures, [counted], checks, exceptions] = await ctx.read(
    [
      courierExists(ctx, period.courierId ?? null),
      figuresOfPackages(ctx, period),
      countReceived(ctx, period),
      checkBills(ctx, period),
      pageOfExceptions(ctx, period, { before, limit }),
    ],
    { from: 'replica' },
  );
  if (courierId && !courier) throw new ApiError('courier_not_found');
  const page = exceptions.slice(0, limit);
  return {
    query,
    figures,
    received: counted?.received ?? 0,
    checks,
    exceptions: page,
    nextBefore: exceptions.length > limit ? (page.at(-1)?.package_id ?? null) : null,
  };
}
