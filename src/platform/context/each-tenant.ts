import { systemCallers, type Db } from '../db/database.js';
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
