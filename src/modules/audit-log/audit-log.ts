import type { UserCaller } from '../../platform/identity/callers.js';
import { readInScope } from '../../platform/db/transaction.js';
import { invalidField } from '../../platform/errors/errors.js';
import { pageOfEntries, type AuditQuery, type AuditRow } from './queries.js';
import { sealBeforeReading, type Sealer } from './append-to-chain.js';

export type AuditPage = { rows: AuditRow[]; limit: number; nextBefore: string | null };

/**
 * Who changed what in the tenant.
 *
 * @throws Fault validation_failed when the days are the wrong way round
 */
export async function listEntries(sealer: Sealer, caller: UserCaller, query: AuditQuery): Promise<AuditPage> {
  const { from, to, limit } = query;
  if (from && to && to < from) throw invalidField('to', 'must not be before from', 'minimum');
  await sealBeforeReading(sealer, caller);
  const [found] = await readInScope(sealer.db, caller, [pageOfEntries(sealer.db, caller, query)]);
  // as: the shape that the statement selects
  const rows = found as AuditRow[];
  const page = rows.slice(0, limit);
  return { rows: page, limit, nextBefore: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}
