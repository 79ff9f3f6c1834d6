import type { Secrets } from '../../platform/access/secrets.js';
import { readPageBefore, type PageBefore } from '../../platform/context/read-page.js';
import type { UserContext } from '../../platform/context/request-context.js';
import { invalidFieldError } from '../../platform/errors/errors.js';
import { pageOfEntries, type AuditQuery, type AuditRow } from './queries.js';
import { appendBeforeReading } from './append-to-chain.js';
import { zoneOfDays } from '../tenant-settings/public.js';

/**
 * Returns one page of the tenant's audit log.
 *
 * @throws ApiError validation_failed if `to` is before `from`
 */
export async function listEntries(
  ctx: UserContext,
  secrets: Secrets,
  query: AuditQuery,
): Promise<PageBefore<AuditRow>> {
  const { from, to, limit } = query;
  if (from && to && to < from) throw invalidFieldError('to', 'before', { other: 'from' });
  await appendBeforeReading(ctx, secrets);
  const zone = await zoneOfDays(ctx, query.day_zone);
  return readPageBefore(ctx, pageOfEntries(ctx, query, zone), limit);
}
