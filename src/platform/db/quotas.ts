import { ApiError } from '../errors/errors.js';
import { raw, sql, type PlainTx, type Sql } from './transaction.js';

/** How much of something a courier may do in a UTC day or hour, its own calls and those of staff for it together. */
export type Quota = {
  kind: 'customer_changes' | 'target_changes' | 'webhook_sends';
  period: 'day' | 'hour';
  limit: number;
};

type Asker = { tenantId: string; courierId: string };

/**
 * Counts `amount` more, in the transaction that does it. The row stays locked until that ends: call it last.
 *
 * @throws ApiError quota_exceeded when that is more than is left
 */
export async function takeQuota(
  tx: Pick<PlainTx, 'query'>,
  quota: Quota,
  asker: Asker,
  amount: number,
): Promise<void> {
  if (amount === 0) return;
  const [row] = await tx.query<{ is_taken: boolean; seconds_left: number }>(
    sql`with taken as (${take(quota, asker, amount)})
      select exists (select from taken) as is_taken, ${secondsLeft(quota)} as seconds_left`,
  );
  if (!row?.is_taken) throw exceeded(quota, row?.seconds_left);
}

/** How much is left. Without a lock: another transaction may take it first. */
export const remainingQuota = async (
  tx: Pick<PlainTx, 'query'>,
  quota: Quota,
  asker: Asker,
): Promise<number> => quota.limit - (await readQuota(tx, quota, asker)).used;

/** @throws ApiError quota_exceeded when less than `amount` is left */
export async function assertQuota(
  tx: Pick<PlainTx, 'query'>,
  quota: Quota,
  asker: Asker,
  amount = 1,
): Promise<void> {
  const { used, seconds_left: secondsLeft } = await readQuota(tx, quota, asker);
  if (used + amount > quota.limit) throw exceeded(quota, secondsLeft);
}

async function readQuota(tx: Pick<PlainTx, 'query'>, quota: Quota, asker: Asker) {
  const [row] = await tx.query<{ used: number; seconds_left: number }>(
    sql`select coalesce(max(q.used), 0) as used, ${secondsLeft(quota)} as seconds_left from courier_quotas q
      where q.tenant_id = ${asker.tenantId}::uuid and q.courier_id = ${asker.courierId}::uuid
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

function take(quota: Quota, { tenantId, courierId }: Asker, amount: number): Sql {
  const { kind, limit } = quota;
  return sql`insert into courier_quotas as q (tenant_id, courier_id, kind, period_start, used)
    select ${tenantId}::uuid, ${courierId}::uuid, ${kind}, ${periodStart(quota)}, ${amount}::int
    where ${amount}::int <= ${limit}::int
    on conflict (tenant_id, courier_id, kind, period_start) do update set used = q.used + excluded.used
      where q.used + excluded.used <= ${limit}::int
    returning q.used`;
}
