import type { SystemContext } from '../../../platform/context/request-context.js';
import { makePendingDue, type DeliveryQueue } from '../../../platform/queue/delivery-queues.js';
import { claimDue, selectTarget, type ClaimedRow, type TargetRow } from './claim-queries.js';
import { insertExchanges, type KeptExchange } from './exchange-queries.js';
import type { EndedAttempt } from './send.js';
import { insertAttempts, recordHealth, settleDeliveries, settleSyncs } from './settle-queries.js';

/**
 * Records the outcomes of requests and claims further deliveries, in one round trip.
 * @param exchangeDays how long to keep what was sent and answered; 0 to keep nothing
 */
export async function settleThenClaim(
  ctx: SystemContext,
  queue: DeliveryQueue,
  ended: EndedAttempt[],
  { room, exchangeDays }: { room: number; exchangeDays: number },
): Promise<[TargetRow[], ClaimedRow[]]> {
  const claiming = [selectTarget(ctx, queue), claimDue(ctx, queue, room)] as const;
  if (ended.length === 0) return ctx.write(claiming);
  const results = ended.map(({ result }) => result);
  const synced = results.filter((result) => result.synced_package_id !== null);
  const isTested = results.some((result) => result.is_test && result.outcome === 'delivered');
  const exchanges = exchangeDays > 0 ? keptExchanges(ended) : [];
  const [, , , target, claimed] = await ctx.write([
    insertAttempts(ctx, queue, results),
    settleDeliveries(ctx, results),
    recordHealth(ctx, queue, results),
    ...claiming,
    ...(exchanges.length > 0 ? [insertExchanges(ctx, queue, exchanges, exchangeDays)] : []),
    ...(synced.length > 0 ? [settleSyncs(ctx, synced)] : []),
    // The receiver works: what waits for a retry is sent now. This run or the next one claims it.
    ...(isTested ? [makePendingDue(ctx, queue)] : []),
  ] as const);
  return [target, claimed];
}

/**
 * Returns what to keep of attempts that are recorded together: all failures and tests, and the last success. Under load, many successes are
 * recorded together, so that one exchange in about forty deliveries is stored (docs/decisions/0126).
 */
function keptExchanges(ended: EndedAttempt[]): KeptExchange[] {
  const lastSuccess = ended.findLast(({ result }) => result.outcome === 'delivered');
  return ended
    .filter((each) => each.result.outcome !== 'delivered' || each.result.is_test || each === lastSuccess)
    .flatMap(({ result: { delivery_id, number }, exchange }) => {
      const kept = exchange();
      return kept ? [{ ...kept, delivery_id, number }] : [];
    });
}
