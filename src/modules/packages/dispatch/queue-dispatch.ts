import { auditLater } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { ownRows } from '../../../platform/db/filters.js';
import { assertQuota, quotaOf, remainingQuota, takeQuota } from '../../../platform/limits/stored/quotas.js';
import { sql } from '../../../platform/db/statements.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { newId } from '../../../platform/values/ids.js';
import { filtersOf, matching } from '../list/filters.js';
import { insertDispatch, pageOfDispatches, type DispatchQuery } from './queries.js';
import { queueSelected, type SyncCounts } from './queue-syncs.js';
import { readPageBefore } from '../../../platform/context/read-page.js';
import { zoneOfDays } from '../../tenant-settings/public.js';

/** A larger selection would hold its locks for longer than the request timeout. */
const MAX_SELECTED = 100_000;

const DISPATCHED = quotaOf('dispatched_packages');

/** Maximum number of requested ids that the audit entry repeats. */
const MAX_AUDITED_IDS = 100;

export type Dispatch = Pick<SyncCounts, 'selected' | 'queued'> & { dispatchId: string };

/**
 * Queues packages for synchronisation: either those of the given ids that the caller may see, or all that
 * match the filters, on all pages.
 * @throws ApiError validation_failed if more than 100,000 packages match, quota_exceeded
 */
export async function queueDispatch(ctx: UserContext, query: BodyOf<'queueDispatch'>): Promise<Dispatch> {
  const dispatchId = newId();
  const { package_ids: packageIds } = query;
  const filters = filtersOf(query, await zoneOfDays(ctx, query.day_zone));
  const selection = packageIds
    ? sql`${ownRows(ctx, 'p')} and p.id = any(${packageIds}::uuid[])`
    : matching(ctx, filters);
  return ctx.write(async (tx) => {
    // Checked before the packages are marked, because undoing that costs as much as doing it.
    const atMostQueued = await remainingQuota(tx, DISPATCHED, ctx.caller);
    const bounds = { dispatchId, atMost: MAX_SELECTED, atMostQueued };
    const [counts] = await tx.query(queueSelected(ctx, selection, bounds));
    if (!counts) throw new Error('The dispatch statement returned no row.');
    const { selected, wanted, queued } = counts;
    if (selected > MAX_SELECTED) throw tooMany();
    if (wanted > atMostQueued) await assertQuota(tx, DISPATCHED, ctx.caller, wanted);
    await tx.count(insertDispatch(ctx, { id: dispatchId, selected, queued }));
    const requested = packageIds ? { package_ids: boundedIds(packageIds) } : { filters };
    auditLater(tx, 'dispatch.queued', dispatchId, { after: { selected, queued, ...requested } });
    await takeQuota(tx, DISPATCHED, ctx.caller, queued);
    return { selected, queued, dispatchId };
  });
}

const boundedIds = (ids: string[]) => ({ count: ids.length, first: ids.slice(0, MAX_AUDITED_IDS) });

function tooMany(): ApiError {
  return new ApiError('validation_failed', { variant: 'too_many_packages', args: { limit: MAX_SELECTED } });
}

/** Returns dispatches and their progress. Staff see all dispatches, a courier sees those of its own users. */
export const listDispatches = (ctx: UserContext, query: DispatchQuery) =>
  readPageBefore(ctx, pageOfDispatches(ctx, query), query.limit);
