import { ApiError } from '../errors/errors.js';
import { raw, sql, type PlainTx, type Sql } from './statements.js';

/** A limit per courier and UTC day or hour. It counts the courier's own calls and those of staff for the courier. */
export type Quota = {
  kind: 'customer_changes' | 'target_changes' | 'webhook_sends';
  period: 'day' | 'hour';
  limit: number;
};

type QuotaOwner = { tenantId: string; courierId: string };

/**
 * Adds `amount` to the usage, in the transaction that does the work. Call it last, because it locks the quota's row until
 * the transaction ends.
 *
 * @throws ApiError quota_exceeded when less than `amount` is left
 */
export async function takeQuota(
  tx: Pick<PlainTx, 'query'>,
  quota: Quota,
  owner: QuotaOwner,
  amount: number,
): Promise<void> {
  if (amount === 0) return;
  const [row] = await tx.query<{ is_taken: boolean; seconds_left: number }>(
    sql`with taken as (${insertUsage(quota, owner, amount)})
      select exists (select from taken) as is_taken, ${secondsLeft(quota)} as seconds_left`,
  );
  if (!row?.is_taken) throw exceeded(quota, row?.seconds_left);
}

/** Returns the remaining quota. It does not lock, so a concurrent transaction may use it up. */
export const remainingQuota = async (
  tx: Pick<PlainTx, 'query'>,
  quota: Quota,
  owner: QuotaOwner,
): Promise<number> => quota.limit - (await readQuota(tx, quota, owner)).used;

/** @throws ApiError quota_exceeded when less than `amount` is left */
export async function assertQuota(
  tx: Pick<PlainTx, 'query'>,
  quota: Quota,
  owner: QuotaOwner,
  amount = 1,
): Promise<void> {
  const { used, seconds_left: secondsLeft } = await readQuota(tx, quota, owner);
  if (used + amount > quota.limit) throw exceeded(quota, secondsLeft);
}

async function readQuota(tx: Pick<PlainTx, 'query'>, quota: Quota, owner: QuotaOwner) {
  const [row] = await tx.query<{ used: number; seconds_left: number }>(
    sql`select coalesce(max(q.used), 0) as used, ${secondsLeft(quota)} as seconds_left from courier_quotas q
      where q.tenant_id = ${owner.tenantId}::uuid and q.courier_id = ${owner.courierId}::uuid
        and q.kind = ${quota.kind} and q.period_start = ${periodStart(quota)}`,
  );
  if (!row) throw new Error('An aggregate returned no row.');
  return row;
}

const exceeded = ({ kind, limit }: Quota, retryAfterSeconds = 60) =>
  new ApiError('quota_exceeded', { variant: kind, args: { limit }, retryAfterSeconds });

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
