import type { RequestContext } from '../../../src/platform/context/request-context.js';
import { sql, type Sql } from '../../../src/platform/db/statements.js';

type Plan = {
  'Node Type': string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
};
type Explained = { 'QUERY PLAN': [{ Plan: Plan }] };

const blocksIn = (plan: Plan): number => plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];

/** Executes a statement, and returns how many blocks it reads. Unlike time, that does not depend on the load of the machine. */
export async function blocksOf(ctx: Pick<RequestContext, 'write'>, statement: Sql): Promise<number> {
  const explained = sql<Explained>`explain (analyze, buffers, format json) ${statement}`;
  const [[row]] = await ctx.write([explained]);
  if (!row) throw new Error('EXPLAIN returned no row.');
  const { Plan: plan } = row['QUERY PLAN'][0];
  // A part that writes, and whose rows nobody reads, is executed after the plan and not counted in it.
  const writing = (plan.Plans ?? []).filter((part) => part['Node Type'] === 'ModifyTable');
  return [plan, ...writing].reduce((sum, part) => sum + blocksIn(part), 0);
}
