import type { SystemContext } from '../../platform/context/request-context.js';
import { markIdleSessions } from './queries.js';

/**
 * Ends the tenant's sessions that exceeded the idle timeout. The database function enter_with_token rejects
 * their tokens even before that.
 */
export async function endIdleSessions(ctx: SystemContext): Promise<void> {
  await ctx.write([markIdleSessions(ctx)]);
}
