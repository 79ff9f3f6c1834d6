import type { UserContext } from '../../../platform/context/request-context.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import { figuresOfAccount, pageOfMovements, type AccountRow, type MovementRow } from './queries.js';

export type StatementQuery = QueryOf<'getCourierStatement'>;

export type Statement = { query: StatementQuery; account: AccountRow; movements: MovementRow[] };

/**
 * Returns a courier's account over a period: of any courier for staff; for a courier its own, whatever id it
 * sends.
 * @throws ApiError validation_failed, courier_not_found
 */
export async function readStatement(ctx: UserContext, query: StatementQuery): Promise<Statement> {
  const courierId = ctx.caller.courierId ?? query.courier_id;
  if (!courierId) throw invalidFieldError('courier_id', 'required_for_staff');
  if (query.to < query.from) throw invalidFieldError('to', 'before', { other: 'from' });
  const period = { courierId, from: query.from, to: query.to };
  const [[account], movements] = await ctx.read(
    [figuresOfAccount(ctx, period), pageOfMovements(ctx, period, query)],
    { from: 'replica' },
  );
  if (!account) throw new ApiError('courier_not_found');
  return { query, account, movements };
}
