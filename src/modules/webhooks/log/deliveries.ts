import type { UserCaller } from '../../../platform/identity/callers.js';
import { snapshot, type Db } from '../../../platform/db/transaction.js';
import { invalidFieldError } from '../../../platform/errors/errors.js';
import { pageOfDeliveries, type DeliveryQuery, type DeliveryRow } from './queries.js';

export type DeliveryPage = { rows: DeliveryRow[]; limit: number; nextBefore: string | null };

/**
 * The log of what was sent to couriers: every courier's for staff, for a courier its own.
 *
 * @throws ApiError validation_failed when the days are the wrong way round
 */
export async function listDeliveries(
  db: Db,
  caller: UserCaller,
  query: DeliveryQuery,
): Promise<DeliveryPage> {
  const { from, to, limit } = query;
  if (from && to && to < from) throw invalidFieldError('to', 'before', { other: 'from' });
  const [found] = await snapshot(db, caller, [pageOfDeliveries(db, caller, query)]);
  // as: the shape that the statement selects
  const rows = found as DeliveryRow[];
  const page = rows.slice(0, limit);
  return { rows: page, limit, nextBefore: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}
