import type { SystemContext } from '../../../platform/context/request-context.js';
import { tenantRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import { orOk, warning, type Finding } from '../../shared-checks/finding.js';
import { forEachTenant } from '../scope/tenants.js';
import type { Connected } from './subject.js';

type FailingRow = { tenant: string; urls: number; couriers: number; since: Date };

/** Finds URLs of webhooks that have failed for long, before what waits for them is given up. Names no URL: it may contain a secret. */
export async function checkWebhooks(subject: Connected): Promise<Finding[]> {
  return orOk(
    (await forEachTenant(subject, findFailing)).flat(),
    'No URL of a courier has failed for more than an hour.',
  );
}

async function findFailing(ctx: SystemContext): Promise<Finding[]> {
  const [rows] = await ctx.read([failingUrls(ctx)]);
  return rows.map(({ tenant, urls, couriers, since }) =>
    warning(
      `Every webhook to ${urls} URLs of ${couriers} couriers of the tenant ${tenant} has failed for more than an hour, the longest since ${since.toISOString()}.`,
      'Tell the couriers before their webhooks are given up. See "WebhooksGivenUp" in docs/operations.md.',
    ),
  );
}

/** One row, or none. Without URLs that the courier has removed, and without inactive couriers. */
const failingUrls = (ctx: SystemContext): Sql<FailingRow> => sql`
  select t.slug as tenant, count(*)::int as urls, count(distinct e.courier_id)::int as couriers, min(e.failing_since) as since
  from webhook_endpoints e
  join couriers c on ${tenantRows(ctx, 'c')} and c.id = e.courier_id and c.is_active
    and case e.endpoint when 'add_package' then c.api_url_add_package else c.api_url_update_package end is not null
  join tenants t on t.id = ${ctx.tenantId}::uuid
  where ${tenantRows(ctx, 'e')} and e.failing_since < now() - interval '1 hour'
  group by t.slug`;
