import type { SystemContext } from '../../../platform/context/request-context.js';
import { makePendingDue, type DeliveryQueue } from '../../../platform/queue/delivery-queues.js';
import { claimDue, selectTarget, type ClaimedRow, type TargetRow } from './claim-queries.js';
import { chooseExchanges } from '../exchanges/exchange-budget.js';
import { insertExchanges, type ChosenExchanges, type ExchangeBudget } from '../exchanges/exchange-queries.js';
import type { EndedAttempt } from './send.js';
import { insertAttempts, recordHealth, settleDeliveries, settleSyncs } from './settle-queries.js';

/**
 * Records the outcomes of requests and claims further deliveries, in one round trip.
 * @param exchangeDays how long to keep what was sent and answered; 0 to keep nothing
 * @param budget how much of it was kept before these requests
 */
export async function settleThenClaim(
  ctx: SystemContext,
  queue: DeliveryQueue,
  ended: EndedAttempt[],
  { room, exchangeDays, budget }: { room: number; exchangeDays: number; budget: ExchangeBudget },
): Promise<[TargetRow[], ClaimedRow[]]> {
  const claiming = [selectTarget(ctx, queue), claimDue(ctx, queue, room)] as const;
  if (ended.length === 0) return ctx.write(claiming);
  const results = ended.map(({ result }) => result);
  const synced = results.filter((result) => result.synced_package_id !== null);
  const isTested = results.some((result) => result.is_test && result.outcome === 'delivered');
  const exchanges = exchangeDays > 0 ? await chooseExchanges(ended, budget) : NO_EXCHANGES;
  const [, , , targets, claimed] = await ctx.write([
    insertAttempts(ctx, queue, results),
    settleDeliveries(ctx, results),
    recordHealth(ctx, queue, results),
    ...claiming,
    ...(exchanges.kept.length > 0 ? [insertExchanges(ctx, queue, exchanges, exchangeDays)] : []),
    ...(synced.length > 0 ? [settleSyncs(ctx, synced)] : []),
    // The receiver works: what waits for a retry is sent now. This run or the next one claims it.
    ...(isTested ? [makePendingDue(ctx, queue)] : []),
  ] as const);
  return [targets.map((target) => ({ ...target, ...spend(target, exchanges) })), claimed];
}

const NO_EXCHANGES = { kept: [], bytes: 0, failures: 0 };

/** The target was read before the exchanges were counted. */
const spend = (budget: ExchangeBudget, { bytes, failures }: ChosenExchanges): ExchangeBudget => ({
  usedBytes: budget.usedBytes + bytes,
  hasFailure: budget.hasFailure || failures > 0,
});
