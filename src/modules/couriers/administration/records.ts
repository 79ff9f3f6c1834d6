import { readPage, type Page } from '../../../platform/context/read-page.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { countOfCouriers, oneCourier, pageOfCouriers, type RecordRow } from './queries.js';

export const listCouriers = (ctx: UserContext, query: QueryOf<'listCouriers'>): Promise<Page<RecordRow>> =>
  readPage(ctx, pageOfCouriers(ctx, query), countOfCouriers(ctx, query));

/**
 * Returns the courier as courier administration shows it, inside the transaction that changes it.
 * @throws ApiError courier_not_found
 */
export async function readRecord(tx: UserTx, courierId: string): Promise<RecordRow> {
  const [row] = await tx.query(oneCourier(tx, courierId));
  if (!row) throw new ApiError('courier_not_found');
  return row;
}
