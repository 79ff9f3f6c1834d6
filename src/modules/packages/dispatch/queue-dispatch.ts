import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { ownRows } from '../../../platform/db/filters.js';
import { sql } from '../../../platform/db/statements.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { newId } from '../../../platform/values/ids.js';
import { filtersOf, matching } from '../list/filters.js';
import { insertDispatch } from './queries.js';
import { queueSyncs, type SyncCounts } from './queue-syncs.js';

/** A larger selection would hold its locks for longer than the request timeout. */
const MAX_SELECTED = 100_000;

/** Maximum number of requested ids that the audit entry repeats. */
const MAX_AUDITED_IDS = 100;

export type Dispatch = SyncCounts & { dispatchId: string };

/**
 * Queues packages for synchronisation: either those of the given ids that the caller may see, or all that
 * match the filters, on all pages.
 * @throws ApiError validation_failed if more than 100,000 packages match
 */
export async function queueDispatch(ctx: UserContext, query: BodyOf<'queueDispatch'>): Promise<Dispatch> {
  const dispatchId = newId();
  const { package_ids: packageIds } = query;
  const filters = filtersOf(query);
  const selection = packageIds
    ? sql`${ownRows(ctx, 'p')} and p.id = any(${packageIds}::uuid[])`
    : matching(ctx, filters);
  return ctx.transaction(async (tx) => {
    const [counts] = await tx.query(queueSyncs(ctx, selection, { dispatchId, atMost: MAX_SELECTED }));
    if (!counts) throw new Error('The dispatch statement returned no row.');
    if (counts.selected > MAX_SELECTED) throw tooMany();
    await tx.execute(insertDispatch(ctx, { id: dispatchId, ...counts }));
    const requested = packageIds ? { package_ids: boundedIds(packageIds) } : { filters };
    const after = { ...counts, ...requested };
    await tx.audit({ action: 'dispatch.queued', entity: 'dispatch', entityId: dispatchId, after });
    return { ...counts, dispatchId };
  });
}

const boundedIds = (ids: string[]) => ({ count: ids.length, first: ids.slice(0, MAX_AUDITED_IDS) });

function tooMany(): ApiError {
  return new ApiError('validation_failed', { variant: 'too_many_packages', args: { limit: MAX_SELECTED } });
}
