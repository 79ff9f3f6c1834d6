import { auditLater } from '../../platform/audit/audit.js';
import { readPageBefore, type PageBefore } from '../../platform/context/read-page.js';
import type { SystemContext, UserContext } from '../../platform/context/request-context.js';
import type { BodyOf, QueryOf } from '../../platform/contract/types.js';
import type { UserTx } from '../../platform/db/scope.js';
import { ApiError } from '../../platform/errors/errors.js';
import { quotaOf, takeQuota } from '../../platform/limits/stored/quotas.js';
import { addJobs } from '../../platform/queue/jobs.js';
import { newId } from '../../platform/values/ids.js';
import { targetCourierId } from '../couriers/public.js';
import { failAbandoned, findOpen, insertCheck, oneCheck, pageOfChecks, type CheckRow } from './queries.js';

const CHECKS = quotaOf('integration_checks');

type Request = BodyOf<'createIntegrationCheck'>;

/**
 * Requests a check of a URL, or returns the one that is already open.
 * @throws ApiError validation_failed, courier_not_found, endpoint_missing, sync_url_missing, quota_exceeded
 */
export async function requestCheck(
  ctx: UserContext,
  { endpoint, courier_id: sentCourierId }: Request,
): Promise<{ row: CheckRow; isNew: boolean }> {
  const courierId = targetCourierId(ctx.caller, sentCourierId);
  return ctx.write(async (tx) => {
    await assertHasUrl(tx, courierId, endpoint);
    const { id, isNew } = await openCheck(tx, courierId, endpoint);
    if (isNew) {
      auditLater(tx, 'courier.integration_checked', courierId, { after: { check_id: id, endpoint } });
      // Executed once: a check that was interrupted has no result, and is not sent again.
      await tx.query(addJobs(ctx, 'checkIntegration', [{ tenantId: ctx.tenantId, checkId: id }]));
      await takeQuota(tx, CHECKS, courierId, 1);
    }
    const [row] = await tx.query(oneCheck(ctx, id));
    if (!row) throw new Error('The check was not found in the transaction that wrote it.');
    return { row, isNew };
  });
}

async function assertHasUrl(tx: UserTx, courierId: string, endpoint: Request['endpoint']): Promise<void> {
  const select = {
    isActive: true,
    apiUrlAddPackage: true,
    apiUrlUpdatePackage: true,
    apiUrlGetCustomers: true,
  };
  const courier = await tx.models.courier.findFirst({ where: { id: courierId }, select });
  if (!courier) throw new ApiError('courier_not_found');
  if (endpoint === 'get_customers') {
    if (courier.apiUrlGetCustomers === null) throw new ApiError('sync_url_missing');
    return;
  }
  const url = endpoint === 'add_package' ? courier.apiUrlAddPackage : courier.apiUrlUpdatePackage;
  if (url === null || !courier.isActive) throw new ApiError('endpoint_missing');
}

/** Returns the only open check of the URL: a new one, or the one that already exists. */
async function openCheck(
  tx: UserTx,
  courierId: string,
  endpoint: Request['endpoint'],
): Promise<{ id: string; isNew: boolean }> {
  for (;;) {
    const [created] = await tx.query(insertCheck(tx, { id: newId(), courierId, endpoint }));
    if (created) return { id: created.id, isNew: true };
    const [open] = await tx.query(findOpen(tx, courierId, endpoint));
    if (open) return { id: open.id, isNew: false };
    // The open check ended between the two statements, so the insertion is tried again.
  }
}

/** Returns one page of checks: those of all couriers for staff, its own for a courier. */
export const listChecks = (
  ctx: UserContext,
  query: QueryOf<'listIntegrationChecks'>,
): Promise<PageBefore<CheckRow>> => readPageBefore(ctx, pageOfChecks(ctx, query), query.limit);

const ABANDONED_MINUTES = 10;

/** Fails the tenant's checks that nobody can be executing any more, so that new ones can start. */
export async function failAbandonedChecks(ctx: SystemContext): Promise<void> {
  const error = 'The check did not run within ten minutes. Request another one.';
  await ctx.write([failAbandoned(ctx, ABANDONED_MINUTES, error)]);
}
