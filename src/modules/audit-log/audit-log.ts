import type { Secrets } from '../../platform/access/secrets.js';
import type { UserContext } from '../../platform/context/request-context.js';
import { invalidFieldError } from '../../platform/errors/errors.js';
import { pageOfEntries, type AuditQuery, type AuditRow } from './queries.js';
import { appendBeforeReading } from './append-to-chain.js';

export type AuditPage = { rows: AuditRow[]; limit: number; nextBefore: string | null };

/**
 * Returns one page of the tenant's audit log.
 *
 * @throws ApiError validation_failed if `to` is before `from`
 */
export async function listEntries(ctx: UserContext, secrets: Secrets, query: AuditQuery): Promise<AuditPage> {
  const { from, to, limit } = query;
  if (from && to && to < from) throw invalidFieldError('to', 'before', { other: 'from' });
  await appendBeforeReading(ctx, secrets);
  const [rows] = await ctx.read([pageOfEntries(ctx, query)]);
  const page = rows.slice(0, limit);
  return { rows: page, limit, nextBefore: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}
