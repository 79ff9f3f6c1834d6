import { systemCallers } from '../platform/db/tenants.js';
import { deleteUnusedTerms } from '../modules/customers/search/delete-unused-terms.js';
import { BACKGROUND } from '../platform/audit/audit.js';
import { makeContext } from '../platform/context/request-context.js';
import { sql, type Sql } from '../platform/db/statements.js';
import type { TaskDeps } from '../platform/queue/task-context.js';

/** Limits the rows per statement, so that no statement holds its locks for long. */
const MAX_ROWS_PER_STATEMENT = 5_000;

/** Deletes rows that are past their retention, tenant by tenant. The contract states the periods in "Webhooks and events". */
export async function deleteExpired({ db, stopping }: Pick<TaskDeps, 'db' | 'stopping'>): Promise<void> {
  for (const caller of await systemCallers(db)) {
    for (const rule of RETENTION_RULES) {
      for (let deleted = MAX_ROWS_PER_STATEMENT; deleted === MAX_ROWS_PER_STATEMENT && !stopping.aborted;) {
        const ctx = makeContext(db, caller, BACKGROUND);
        const [[batch]] = await ctx.pipeline([deleteBatch(caller.tenantId, rule)]);
        deleted = batch?.deleted ?? 0;
      }
    }
    await deleteUnusedTerms(db, caller, stopping);
  }
}

/** A table and the condition for its expired rows, which have the alias `old`. */
type RetentionRule = { table: Sql; where: Sql };

const RETENTION_RULES: RetentionRule[] = [
  {
    table: sql`webhook_deliveries`,
    where: sql`old.status <> 'pending' and old.created_at < now() - interval '30 days'`,
  },
  {
    // Events with deliveries stay: settled deliveries are deleted after 30 days, pending ones are needed.
    table: sql`events`,
    where: sql`old.occurred_at < now() - interval '90 days' and not exists (
      select from webhook_deliveries d where d.tenant_id = old.tenant_id and d.event_id = old.id)`,
  },
  { table: sql`manifest_mails`, where: sql`old.created_at < now() - interval '90 days'` },
  { table: sql`account_mails`, where: sql`old.created_at < now() - interval '90 days'` },
  { table: sql`password_resets`, where: sql`old.requested_at < now() - interval '1 day'` },
  { table: sql`customer_sync_runs`, where: sql`old.created_at < now() - interval '90 days'` },
  { table: sql`dispatches`, where: sql`old.requested_at < now() - interval '90 days'` },
  { table: sql`preauth_tokens`, where: sql`old.expires_at < now() - interval '1 hour'` },
  { table: sql`sessions`, where: sql`coalesce(old.ended_at, old.expires_at) < now() - interval '30 days'` },
  {
    // A user's latest network stays, so that a login from a new network is still detected after a long time.
    table: sql`known_networks`,
    where: sql`old.last_seen_at < now() - interval '90 days' and exists (select from known_networks newer
      where newer.tenant_id = old.tenant_id and newer.user_id = old.user_id and newer.last_seen_at > old.last_seen_at)`,
  },
  { table: sql`idempotency_keys`, where: sql`old.created_at < now() - interval '24 hours'` },
  { table: sql`courier_quotas`, where: sql`old.period_start < now() - interval '7 days'` },
  {
    table: sql`login_throttles`,
    where: sql`old.updated_at < now() - interval '1 day' and coalesce(old.locked_until < now(), true)`,
  },
];

const deleteBatch = (tenantId: string, { table, where }: RetentionRule): Sql<{ deleted: number }> => sql`
  with expired as (
    select old.ctid from ${table} old where old.tenant_id = ${tenantId}::uuid and ${where} limit ${MAX_ROWS_PER_STATEMENT}::int
  ), removed as (
    delete from ${table} old using expired where old.tenant_id = ${tenantId}::uuid and old.ctid = expired.ctid returning 1
  )
  select count(*)::int as deleted from removed`;
