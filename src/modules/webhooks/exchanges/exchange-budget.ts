import { pauseWhenDue } from '../../../platform/concurrency/pause-when-due.js';
import type { Exchange } from './exchange.js';
import type { ChosenExchanges, ExchangeBudget } from './exchange-queries.js';

/** An attempt, and a function that returns what was sent and answered, or null if nothing was sent. */
type EndedAttempt = {
  result: { delivery_id: string; number: number; is_test: boolean; outcome: string };
  exchange: () => Exchange | null;
};

/** What is kept of the exchanges of a URL per UTC day, in bytes. The last exchange may exceed it. */
const BYTES_PER_DAY = 4_194_304;
/** The shares leave room for failures when a URL has many successes, and for the tests of a person when it has many failures. */
const SHARES = { success: 0.5, failure: 0.75, test: 1 };

/**
 * Chooses what to keep of attempts that are recorded together: all failures and tests, and the last success, within the budget of the URL.
 * Under load, many successes are recorded together, so that one exchange in about forty deliveries is stored (docs/decisions/0126).
 * With a used-up budget, the first failure or test of each hour is kept.
 */
export async function chooseExchanges(
  ended: EndedAttempt[],
  budget: ExchangeBudget,
): Promise<ChosenExchanges> {
  const lastSuccess = ended.findLast((each) => kindOf(each) === 'success');
  const chosen: ChosenExchanges = { kept: [], bytes: 0, failures: 0 };
  for (const each of ended) {
    const kind = kindOf(each);
    if (kind === 'success' && each !== lastSuccess) continue;
    const isFirst = kind !== 'success' && !budget.hasFailure && chosen.failures === 0;
    if (!isFirst && budget.usedBytes + chosen.bytes >= BYTES_PER_DAY * SHARES[kind]) continue;
    await pauseWhenDue();
    const exchange = each.exchange();
    if (!exchange) continue;
    chosen.kept.push({ ...exchange, delivery_id: each.result.delivery_id, number: each.result.number });
    chosen.bytes += sizeOf(exchange);
    if (kind !== 'success') chosen.failures += 1;
  }
  return chosen;
}

function kindOf({ result: { is_test, outcome } }: EndedAttempt): keyof typeof SHARES {
  if (is_test) return 'test';
  return outcome === 'delivered' ? 'success' : 'failure';
}

/** Of its columns in PostgreSQL, before compression. */
const sizeOf = (exchange: Exchange): number =>
  [
    exchange.url,
    JSON.stringify(exchange.request_headers),
    exchange.request_body,
    JSON.stringify(exchange.response_headers),
    exchange.response_body ?? '',
  ].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
