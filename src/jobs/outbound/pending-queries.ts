import { tenantRows } from '../../platform/db/filters.js';
import { raw, sql, type Sql } from '../../platform/db/statements.js';
import type { SystemScope } from '../../platform/db/scope.js';

/** What is given up: of one courier or of all, created before a time. */
export type Selection = { before: Date; courierId?: string; reason: string };

const isSelected = (alias: 'd' | 'm' | 'n' | 'r', { before, courierId }: Selection): Sql =>
  courierId === undefined
    ? sql`${raw(alias)}.created_at < ${before}::timestamptz`
    : sql`${raw(alias)}.created_at < ${before}::timestamptz and ${raw(alias)}.courier_id = ${courierId}::uuid`;

export const selectCourier = (
  ctx: SystemScope,
  of: { tenant: string; courier: string },
): Sql<{ id: string }> =>
  sql`select c.id from couriers c join tenants t on t.id = ${ctx.tenantId}::uuid
    where ${tenantRows(ctx, 'c')} and t.slug = ${of.tenant} and lower(c.code) = lower(${of.courier})`;

/**
 * Settles the webhooks that were created before a time as failed, so that staff and couriers can still send them again. Returns a row per
 * webhook.
 */
export const cancelWebhooks = (ctx: SystemScope, selection: Selection): Sql => sql`
  with cancelled as (
    update webhook_deliveries d
    set status = 'failed', next_attempt_at = null, claimed_until = null, settled_at = now()
    where ${tenantRows(ctx, 'd')} and d.status = 'pending' and ${isSelected('d', selection)}
    returning d.sync_job_id
  ), failed as (
    update package_syncs s set status = 'failed', settled_at = now() from cancelled
    where ${tenantRows(ctx, 's')} and s.job_id = cancelled.sync_job_id
  )
  select from cancelled`;

export const cancelManifestMails = (ctx: SystemScope, selection: Selection): Sql => sql`
  update manifest_mails m set status = 'failed', last_error = ${selection.reason}, settled_at = now()
  where ${tenantRows(ctx, 'm')} and m.status = 'queued' and ${isSelected('m', selection)}`;

export const cancelBillMails = (ctx: SystemScope, selection: Selection): Sql => sql`
  update bill_mails m set status = 'failed', last_error = ${selection.reason}, settled_at = now()
  where ${tenantRows(ctx, 'm')} and m.status = 'queued' and ${isSelected('m', selection)}`;

/** What is held was not told before a restore, as far as the database knows. */
export const cancelNotices = (ctx: SystemScope, selection: Selection): Sql => sql`
  update notices n set status = 'cancelled', reason = 'operator', due_at = null, settled_at = now()
  where ${tenantRows(ctx, 'n')} and n.status = 'held' and ${isSelected('n', selection)}`;

export const cancelNoticeMails = (ctx: SystemScope, selection: Selection): Sql => sql`
  update notice_mails m set status = 'failed', last_error = ${selection.reason}, settled_at = now()
  where ${tenantRows(ctx, 'm')} and m.status = 'queued' and ${isSelected('m', selection)}`;

/** Account mails belong to no courier. */
export const cancelAccountMails = (ctx: SystemScope, { before, reason }: Selection): Sql => sql`
  update account_mails a set status = 'failed', secret_cipher = null, last_error = ${reason}, settled_at = now()
  where ${tenantRows(ctx, 'a')} and a.status = 'queued' and a.created_at < ${before}::timestamptz`;

export const cancelSyncs = (ctx: SystemScope, selection: Selection): Sql => sql`
  update customer_sync_runs r set status = 'failed', error = ${selection.reason}, finished_at = now()
  where ${tenantRows(ctx, 'r')} and r.status in ('queued', 'running') and ${isSelected('r', selection)}`;
