import { QUOTAS } from '../../../../generated/bounds.js';
import { ApiError } from '../../errors/errors.js';
import type { KeyCaller, UserCaller } from '../../identity/callers.js';
import type { ReadTx, Scope } from '../../db/scope.js';
import { once, raw, sql, type Sql } from '../../db/statements.js';

/** A limit per UTC day or hour. `openapi/bounds.yaml` has the table of them. */
export type Quota = { kind: keyof typeof QUOTAS; limit: number };

/** Returns the quota of the table. @param limit replaces its limit, for one that the operator may set */
export const quotaOf = (kind: Quota['kind'], limit: number = QUOTAS[kind].limit): Quota => ({ kind, limit });

/**
 * Whose usage is counted. A courier's id counts the courier's own calls and those of staff for the courier. A caller counts what it
 * requests: for a courier all its users, API keys and service tokens together, for staff each user and each service token. `staff` counts
 * all users and service tokens of the tenant's staff together.
 */
export type QuotaOwner = string | UserCaller | KeyCaller | { kind: 'staff' };

type NotesLimits = Pick<Scope, 'noteRateLimit'>;
type QuotaTx = Pick<ReadTx, 'tenantId' | 'noteRateLimit' | 'query'>;

const WINDOW_SECONDS = { day: 86_400, hour: 3_600, refilled: 86_400 };

/**
 * Adds `amount` to the usage, in the transaction that does the work. Call it last, because it locks the quota's row until
 * the transaction ends.
 *
 * @throws ApiError quota_exceeded when less than `amount` is left
 */
export async function takeQuota(tx: QuotaTx, quota: Quota, owner: QuotaOwner, amount: number): Promise<void> {
  if (amount === 0) return;
  const [row] = await tx.query<{ used: number | null; seconds_left: number }>(
    sql`with taken as (${insertUsage(tx, quota, owner, amount)})
      select (select used::float8 from taken) as used, ${secondsLeft(quota)} as seconds_left`,
  );
  if (!row) throw new Error('A query of constants returned no row.');
  const { used, ...rest } = row;
  if (used === null) throw quotaExceeded(tx, quota, await readQuota(tx, quota, owner));
  note(tx, quota, { used, ...rest });
}

/** Returns the remaining quota. It does not lock, so a concurrent transaction may use it up. */
export const remainingQuota = async (tx: QuotaTx, quota: Quota, owner: QuotaOwner): Promise<number> =>
  quota.limit - (await readQuota(tx, quota, owner)).used;

/** @throws ApiError quota_exceeded when less than `amount` is left */
export async function assertQuota(tx: QuotaTx, quota: Quota, owner: QuotaOwner, amount = 1): Promise<void> {
  assertQuotaLeft(tx, quota, [await readQuota(tx, quota, owner)], amount);
}

/** @param usages the row of `selectUsage` @throws ApiError quota_exceeded when less than `amount` is left */
export function assertQuotaLeft(scope: NotesLimits, quota: Quota, [usage]: Usage[], amount = 1): void {
  if (usage && usage.used + amount > quota.limit) throw quotaExceeded(scope, quota, usage);
}

export type Usage = { used: number; seconds_left: number };

function note(scope: NotesLimits, { kind, limit }: Quota, usage: Usage): void {
  const { policy, unit, period } = QUOTAS[kind];
  scope.noteRateLimit({
    policy,
    unit,
    quota: limit,
    windowSeconds: WINDOW_SECONDS[period],
    remaining: Math.max(0, limit - usage.used),
    resetSeconds: usage.seconds_left,
  });
}

/** Returns the error to throw, and notes the limit for the headers of the response. */
export function quotaExceeded(scope: NotesLimits, quota: Quota, usage: Usage): ApiError {
  note(scope, quota, usage);
  const { kind: variant, limit } = quota;
  return new ApiError('quota_exceeded', { variant, args: { limit }, retryAfterSeconds: usage.seconds_left });
}

async function readQuota(tx: QuotaTx, quota: Quota, owner: QuotaOwner): Promise<Usage> {
  const [row] = await tx.query(selectUsage(tx, quota, owner));
  if (!row) throw new Error('An aggregate returned no row.');
  return row;
}

/** Selects one row. */
export function selectUsage({ tenantId }: { tenantId: string }, quota: Quota, owner: QuotaOwner): Sql<Usage> {
  const { table, columns, values } = placeOf(owner);
  return once`select coalesce(max(q.used), 0)::float8 as used, ${secondsLeft(quota)} as seconds_left from ${table} q
    where q.tenant_id = ${tenantId}::uuid and (${columns}) = (${values})
      and q.kind = ${quota.kind} and q.period_start = ${periodStart(quota)}`;
}

const periodOf = ({ kind }: Quota) => QUOTAS[kind].period;

const periodStart = (quota: Quota): Sql =>
  sql`date_trunc(${raw(`'${periodOf(quota)}'`)}, now() at time zone 'UTC') at time zone 'UTC'`;

const secondsLeft = (quota: Quota): Sql =>
  sql`ceil(extract(epoch from ${periodStart(quota)} + interval ${raw(`'1 ${periodOf(quota)}'`)} - now()))::int`;

/** Where the usage of an owner is stored: the table, the columns of its key after the tenant, and their values. */
function placeOf(owner: QuotaOwner): { table: Sql; columns: Sql; values: Sql } {
  if (typeof owner === 'string')
    return { table: raw('courier_quotas'), columns: raw('courier_id'), values: sql`${owner}::uuid` };
  const table = raw('principal_quotas');
  const columns = raw('principal_kind, principal_id');
  if (owner.kind === 'staff') return { table, columns, values: sql`'staff', app_tenant()` };
  if (owner.kind === 'key') return { table, columns, values: sql`'courier', app_courier()` };
  return owner.courierId === null
    ? { table, columns, values: sql`'user', ${owner.userId}::uuid` }
    : { table, columns, values: sql`'courier', ${owner.courierId}::uuid` };
}

function insertUsage(
  { tenantId }: { tenantId: string },
  quota: Quota,
  owner: QuotaOwner,
  amount: number,
): Sql<{ used: number }> {
  const { limit } = quota;
  return sql`${insertInto(tenantId, quota, owner, sql`${amount}::int`)}
    where ${amount}::int <= ${limit}::bigint
    ${onConflict(owner)} where q.used + excluded.used <= ${limit}::bigint
    returning q.used`;
}

/** Adds to the usage, also above the limit, for work that is done already. */
export const addUsage = (tenantId: string, quota: Quota, owner: QuotaOwner, amount: Sql): Sql =>
  sql`${insertInto(tenantId, quota, owner, amount)} where ${amount} > 0 ${onConflict(owner)}`;

function insertInto(tenantId: string, { kind, ...quota }: Quota, owner: QuotaOwner, amount: Sql): Sql {
  const { table, columns, values } = placeOf(owner);
  const start = periodStart({ kind, ...quota });
  return typeof owner === 'string'
    ? sql`insert into ${table} as q (tenant_id, ${columns}, kind, period_start, used)
      select ${tenantId}::uuid, ${values}, ${kind}, ${start}, ${amount}`
    : sql`insert into ${table} as q (tenant_id, ${columns}, courier_id, kind, period_start, used)
      select ${tenantId}::uuid, ${values}, ${courierOf(owner)}, ${kind}, ${start}, ${amount}`;
}

function courierOf(owner: Exclude<QuotaOwner, string>): Sql {
  if (owner.kind === 'staff') return sql`null::uuid`;
  return owner.kind === 'key' ? sql`app_courier()` : sql`${owner.courierId}::uuid`;
}

const onConflict = (owner: QuotaOwner): Sql =>
  sql`on conflict (tenant_id, ${placeOf(owner).columns}, kind, period_start)
    do update set used = q.used + excluded.used`;
