import { ApiError } from '../errors/errors.js';
import type { NotedRateLimit, RateLimit } from '../rate-limits/rate-limits.js';
import { raw, sql, type PlainTx, type Sql } from './statements.js';

/** A limit per courier and UTC day or hour. It counts the courier's own calls and those of staff for the courier. */
export type Quota = {
  kind: 'customer_changes' | 'target_changes' | 'webhook_sends';
  period: 'day' | 'hour';
  limit: number;
};

/** The request's context. */
type QuotaContext = { tenantId: string; noteRateLimit(limit: NotedRateLimit): void };
type QuotaTx = Pick<PlainTx, 'query'>;

const DESCRIPTIONS = {
  customer_changes: { policy: 'customer-changes', unit: 'customers' },
  target_changes: { policy: 'url-changes', unit: 'hosts' },
  webhook_sends: { policy: 'webhook-sends', unit: 'webhooks' },
} satisfies Record<Quota['kind'], Pick<RateLimit, 'policy' | 'unit'>>;

const WINDOW_SECONDS = { day: 86_400, hour: 3_600 };

/**
 * Adds `amount` to the usage, in the transaction that does the work. Call it last, because it locks the quota's row until
 * the transaction ends.
 *
 * @throws ApiError quota_exceeded when less than `amount` is left
 */
export async function takeQuota(
  ctx: QuotaContext,
  tx: QuotaTx,
  quota: Quota,
  courierId: string,
  amount: number,
): Promise<void> {
  if (amount === 0) return;
  const owner = { tenantId: ctx.tenantId, courierId };
  const [row] = await tx.query<{ used: number | null; seconds_left: number }>(
    sql`with taken as (${insertUsage(quota, owner, amount)})
      select (select used from taken) as used, ${secondsLeft(quota)} as seconds_left`,
  );
  if (!row) throw new Error('A query of constants returned no row.');
  const { used, ...rest } = row;
  if (used === null) throw exceeded(ctx, quota, await readQuota(tx, quota, owner));
  note(ctx, quota, { used, ...rest });
}

/** Returns the remaining quota. It does not lock, so a concurrent transaction may use it up. */
export const remainingQuota = async (
  { tenantId }: QuotaContext,
  tx: QuotaTx,
  quota: Quota,
  courierId: string,
): Promise<number> => quota.limit - (await readQuota(tx, quota, { tenantId, courierId })).used;

/** @throws ApiError quota_exceeded when less than `amount` is left */
export async function assertQuota(
  ctx: QuotaContext,
  tx: QuotaTx,
  quota: Quota,
  courierId: string,
  amount = 1,
): Promise<void> {
  const usage = await readQuota(tx, quota, { tenantId: ctx.tenantId, courierId });
  if (usage.used + amount > quota.limit) throw exceeded(ctx, quota, usage);
}

type Usage = { used: number; seconds_left: number };

function note(ctx: QuotaContext, { kind, limit, period }: Quota, usage: Usage): void {
  ctx.noteRateLimit({
    ...DESCRIPTIONS[kind],
    quota: limit,
    windowSeconds: WINDOW_SECONDS[period],
    remaining: Math.max(0, limit - usage.used),
    resetSeconds: usage.seconds_left,
  });
}

function exceeded(ctx: QuotaContext, quota: Quota, usage: Usage): ApiError {
  note(ctx, quota, usage);
  const { kind: variant, limit } = quota;
  return new ApiError('quota_exceeded', { variant, args: { limit }, retryAfterSeconds: usage.seconds_left });
}

type QuotaOwner = { tenantId: string; courierId: string };

async function readQuota(tx: QuotaTx, quota: Quota, owner: QuotaOwner): Promise<Usage> {
  const [row] = await tx.query<Usage>(
    sql`select coalesce(max(q.used), 0) as used, ${secondsLeft(quota)} as seconds_left from courier_quotas q
      where q.tenant_id = ${owner.tenantId}::uuid and q.courier_id = ${owner.courierId}::uuid
        and q.kind = ${quota.kind} and q.period_start = ${periodStart(quota)}`,
  );
  if (!row) throw new Error('An aggregate returned no row.');
  return row;
}

const periodStart = ({ period }: Quota): Sql =>
  sql`date_trunc(${raw(`'${period}'`)}, now() at time zone 'UTC') at time zone 'UTC'`;

const secondsLeft = (quota: Quota): Sql =>
  sql`ceil(extract(epoch from ${periodStart(quota)} + interval ${raw(`'1 ${quota.period}'`)} - now()))::int`;

function insertUsage(quota: Quota, { tenantId, courierId }: QuotaOwner, amount: number): Sql {
  const { kind, limit } = quota;
  return sql`insert into courier_quotas as q (tenant_id, courier_id, kind, period_start, used)
    select ${tenantId}::uuid, ${courierId}::uuid, ${kind}, ${periodStart(quota)}, ${amount}::int
    where ${amount}::int <= ${limit}::int
    on conflict (tenant_id, courier_id, kind, period_start) do update set used = q.used + excluded.used
      where q.used + excluded.used <= ${limit}::int
    returning q.used`;
}
