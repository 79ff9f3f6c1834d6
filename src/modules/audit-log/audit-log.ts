import type { UserCaller } from '../../platform/identity/callers.js';
import { snapshot } from '../../platform/db/transaction.js';
import { invalidFieldError } from '../../platform/errors/errors.js';
import { pageOfEntries, type AuditQuery, type AuditRow } from './queries.js';
import { appendBeforeReading, type ChainAppender } from './append-to-chain.js';

export type AuditPage = { rows: AuditRow[]; limit: number; nextBefore: string | null };

/**
 * Returns one page of the tenant's audit log.
 * @throws ApiError validation_failed if `to` is before `from`
 */
export async function listEntries(
  appender: ChainAppender,
  caller: UserCaller,
  query: AuditQuery,
): Promise<AuditPage> {
  const { from, to, limit } = query;
  if (from && to && to < from) throw invalidFieldError('to', 'before', { other: 'from' });
  await appendBeforeReading(appender, caller);
  const [found] = await snapshot(appender.db, caller, [pageOfEntries(appender.db, caller, query)]);
  // The statement selects exactly these columns.
  const rows = found as AuditRow[];
  const page = rows.slice(0, limit);
  return { rows: page, limit, nextBefore: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}
