import { pageBefore, type PageBefore } from '../../platform/context/read-page.js';
import type { UserContext } from '../../platform/context/request-context.js';
import { isDateTime } from '../../platform/contract/validator.js';
import { invalidFieldError } from '../../platform/errors/errors.js';
import { countLeftOut, pageOfCalls, type CallQuery, type CallRow } from './queries.js';
import { parcelKeysOf } from './parcel-keys.js';

export type CallPage = PageBefore<CallRow> & { leftOut: number };

/**
 * Returns one page of the log: the calls of all couriers for staff, its own for a courier.
 *
 * @throws ApiError validation_failed
 */
export async function listCalls(ctx: UserContext, query: CallQuery): Promise<CallPage> {
  for (const field of ['since', 'until'] as const)
    if (query[field] !== undefined && !isDateTime(query[field]))
      throw invalidFieldError(field, 'invalid_date_time');
  // A text that is no number names no parcel, so no call is found by it.
  const keys = query.parcel === undefined ? [] : parcelKeysOf(query.parcel);
  const [found, [counted]] = await ctx.read([pageOfCalls(ctx, query, keys), countLeftOut(ctx, query)]);
  return { ...pageBefore(found, query.limit), leftOut: counted?.total ?? 0 };
}
