import type { UserContext } from '../../platform/context/request-context.js';
import { countsOfAttention, type Item } from './queries.js';

/** Returns how many records of each kind wait for somebody, of those that the caller may read. Reads all that wait. */
export async function readAttention(ctx: UserContext): Promise<Item[]> {
  const [items] = await ctx.read([countsOfAttention(ctx)], { from: 'replica' });
  return items;
}
