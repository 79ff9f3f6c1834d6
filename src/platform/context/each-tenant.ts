import type { SystemCaller } from '../identity/callers.js';
import { openCallers, systemCallers, type Db } from '../db/database.js';
import { makeContext, type SystemContext } from './request-context.js';

/** Calls `work` in the scope of each tenant, one after the other. Returns the results. */
export async function inEachTenant<Result>(
  db: Db,
  requestId: string,
  work: (ctx: SystemContext) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const caller of await systemCallers(db)) results.push(await work(makeContext(db, caller, requestId)));
  return results;
}

/**
 * The same for periodic jobs, in the tenants in which something can happen. A tenant for which the work fails, for example while it is moved, keeps it from no other one.
 * @param select the tenants, for a job that must reach all rows
 * @throws the error of the work, or AggregateError, after all tenants
 */
export async function forEachTenant(
  db: Db,
  requestId: string,
  work: (ctx: SystemContext) => Promise<void>,
  select: (db: Db) => Promise<SystemCaller[]> = openCallers,
): Promise<void> {
  const failures: unknown[] = [];
  for (const caller of await select(db))
    await work(makeContext(db, caller, requestId)).catch((error: unknown) => failures.push(error));
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1)
    throw new AggregateError(failures, `The work failed for ${failures.length} tenants.`);
}
