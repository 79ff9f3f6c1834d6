import { forEachTenant } from '../platform/context/each-tenant.js';
import { deleteUnusedTerms } from '../modules/customers/search/delete-unused-terms.js';
import { BACKGROUND } from '../platform/audit/audit.js';
import { makeContext, type SystemContext } from '../platform/context/request-context.js';
import { systemCallers } from '../platform/db/database.js';
import type { SystemCaller } from '../platform/identity/callers.js';
import type { TaskDeps } from '../platform/queue/task-context.js';
import { deleteBatch, RETENTION_RULES, START, type RetentionRule } from './retention-rules.js';

type RetentionDeps = Pick<TaskDeps, 'db' | 'stopping'>;

/** Limits the rows per statement, so that no statement holds its locks for long. */
const ROWS_PER_BATCH = 5_000;

/** Deletes rows that are past their retention, tenant by tenant. The contract states the periods in "Webhooks and events". */
export async function deleteExpired(deps: RetentionDeps): Promise<void> {
  const deleteIn = async ({ caller }: SystemContext) => {
    for (const rule of RETENTION_RULES) await applyRule(deps, caller, rule);
    await deleteUnusedTerms(deps.db, caller, deps.stopping);
  };
  await forEachTenant(deps.db, BACKGROUND, deleteIn, systemCallers);
}

/**
 * Deletes a tenant's expired rows of one table, oldest first. Each batch is a transaction and starts where the previous one
 * ended, because the index entries of deleted rows stay until the next vacuum.
 */
async function applyRule(
  { db, stopping }: RetentionDeps,
  caller: SystemCaller,
  rule: RetentionRule,
): Promise<void> {
  let after = START;
  for (let examined = ROWS_PER_BATCH; examined === ROWS_PER_BATCH && !stopping.aborted;) {
    const ctx = makeContext(db, caller, BACKGROUND);
    const [[batch]] = await ctx.write([deleteBatch(ctx, rule, after, ROWS_PER_BATCH)]);
    if (!batch) return;
    ({ examined, ...after } = batch);
  }
}
