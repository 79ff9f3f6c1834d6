import { hasPermission, type Permission } from '../../platform/access/permissions.js';
import type { DataOf } from '../../platform/contract/types.js';
import { ownRows } from '../../platform/db/filters.js';
import { missingAfterHours } from '../tenant-settings/public.js';
import { join, sql, type Sql } from '../../platform/db/statements.js';
import type { UserScope } from '../../platform/db/scope.js';
import { isOverdue } from '../bills/public.js';
import { hasJustFailed } from '../notices/public.js';
import { missingPrealerts } from '../carrier-tracking/public.js';
import { isOldInWarehouse } from '../packages/public.js';

export type Item = DataOf<'getAttention'>['items'][number];

type Source = {
  /** Who may read the records, and so may know how many there are. */
  permission: Permission;
  /** The table with its alias, and which of its rows count. */
  rows: (ctx: UserScope) => Sql;
};

/** Days after which a package that has not left is old. */
const OLD_DAYS = 30;

/** What can need somebody, in the order of the contract. Each counts what the list that the contract names for it shows. */
const SOURCES: Record<Item['kind'], Source> = {
  unknown_packages: {
    permission: 'package:view',
    rows: (ctx) => sql`packages p where ${ownRows(ctx, 'p')} and p.user_code is null`,
  },
  open_claims: {
    permission: 'claim:view',
    rows: (ctx) => sql`parcel_claims c where ${ownRows(ctx, 'c')} and c.status = 'open'`,
  },
  flagged_prealerts: {
    permission: 'prealert:view',
    rows: (ctx) => sql`prealerts a where ${ownRows(ctx, 'a')} and a.status = 'flagged'`,
  },
  packages_on_hold: {
    permission: 'package:view',
    rows: (ctx) => sql`packages p where ${ownRows(ctx, 'p')} and p.status in ('on_hold', 'customs_hold')`,
  },
  old_packages: {
    permission: 'package:view',
    rows: (ctx) => sql`packages p where ${ownRows(ctx, 'p')} and ${isOldInWarehouse(ctx, OLD_DAYS)}`,
  },
  failing_webhooks: {
    permission: 'webhook:view',
    rows: (ctx) =>
      sql`webhook_endpoints e where ${ownRows(ctx, 'e')} and (e.failing_since is not null or e.paused_at is not null)`,
  },
  draft_bills: {
    permission: 'billing:manage',
    rows: (ctx) => sql`bills b where ${ownRows(ctx, 'b')} and b.status = 'draft'`,
  },
  unpaid_bills: {
    permission: 'billing:view',
    // The payment that settles a bill changes its status.
    rows: (ctx) => sql`bills b where ${ownRows(ctx, 'b')} and b.status = 'published'`,
  },
  overdue_bills: {
    permission: 'billing:view',
    rows: (ctx) => sql`bills b where ${ownRows(ctx, 'b')} and ${isOverdue}`,
  },
  missing_prealerts: {
    permission: 'prealert:view',
    rows: (ctx) => sql`(${missingPrealerts(ctx, missingAfterHours(ctx))}) missing`,
  },
  failed_notices: {
    permission: 'courier:settings',
    rows: (ctx) => sql`notice_mails m where ${ownRows(ctx, 'm')} and ${hasJustFailed('m')}`,
  },
};

/** Counts what the caller may read of each kind. */
export function countsOfAttention(ctx: UserScope): Sql<Item> {
  const counts = Object.entries(SOURCES)
    .filter(([, { permission }]) => hasPermission(ctx.caller.role, permission))
    .map(([kind, { rows }]) => sql`select ${kind}::text as kind, count(*)::int as count from ${rows(ctx)}`);
  return sql`${join(counts, ' union all ')}`;
}
