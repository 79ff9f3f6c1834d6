import { makeContext, type SystemContext } from '../../platform/context/request-context.js';
import type { Db } from '../../platform/db/database.js';
import type { Sql } from '../../platform/db/statements.js';
import { newId } from '../../platform/values/ids.js';

const BATCH_ROWS = 500;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** The rows after an id, in the order of their ids. */
export type BatchRange = { after: string; limit: number };

/** One context per batch, because a context has only one writing transaction. */
export const contextOf = (db: Db, tenantId: string, command: string): SystemContext =>
  makeContext(db, { kind: 'system', tenantId }, `${command} ${newId()}`);

/** Reads the rows of a tenant in batches, each with a context of its own. */
export async function forEachBatch<Row extends { id: string }>(
  newContext: () => SystemContext,
  select: (ctx: SystemContext, range: BatchRange) => Sql<Row>,
  work: (ctx: SystemContext, batch: Row[]) => Promise<void>,
): Promise<void> {
  for (let after = FIRST_ID, isMore = true; isMore;) {
    const ctx = newContext();
    const [batch] = await ctx.read([select(ctx, { after, limit: BATCH_ROWS })]);
    await work(ctx, batch);
    after = batch.at(-1)?.id ?? after;
    isMore = batch.length === BATCH_ROWS;
  }
}
