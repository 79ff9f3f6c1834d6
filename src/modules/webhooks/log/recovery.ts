import { audit } from '../../../platform/audit/audit.js';
import { isCalendarDate } from '../../../platform/contract/validator.js';
import { quotaOf, takeQuota } from '../../../platform/limits/stored/quotas.js';
import type { UserTx } from '../../../platform/db/scope.js';
import type { Endpoint } from '../../../platform/queue/delivery-queues.js';
import type { Obstacle } from './resend-queries.js';

// What `recover_since` and `redeliver_matching` have in common.

export type Recovered = { selected: number; queued: number; pending: number; skipped: Obstacle | null };
export type Recovery = { since: string; endpoints: Record<Endpoint, Recovered>; hasMore: boolean };

// Source: the contract's limits.
export const MAX_RECOVERED = 100_000;
export const RECOVERED = quotaOf('recovered_webhooks');

type Obstacles = ReadonlyMap<Endpoint, Obstacle | null>;
type Counts = Omit<Recovered, 'skipped'>;

/** The URLs that can be sent to. */
export const openOf = (obstacles: Obstacles): Endpoint[] =>
  [...obstacles].filter(([, obstacle]) => obstacle === null).map(([endpoint]) => endpoint);

type Outcome = {
  action: 'webhook.recovered' | 'webhook.redelivered';
  courierId: string;
  /** What was asked for, as the audit trail records it. */
  request: Record<string, unknown>;
  countsOf: (endpoint: Endpoint) => Counts;
};

/** Records what was sent again, and counts it against the quota of the courier. Returns it per URL. */
export async function settleRecovery(
  tx: UserTx,
  obstacles: Obstacles,
  { action, courierId, request, countsOf }: Outcome,
): Promise<Recovery['endpoints']> {
  const of = (endpoint: Endpoint): Recovered => ({
    ...countsOf(endpoint),
    skipped: obstacles.get(endpoint) ?? null,
  });
  const endpoints = { add_package: of('add_package'), update_package: of('update_package') };
  tx.later(audit(tx, { action, entity: 'courier', entityId: courierId, after: { ...request, endpoints } }));
  const sent = Object.values(endpoints).reduce((sum, { queued, pending }) => sum + queued + pending, 0);
  await takeQuota(tx, RECOVERED, courierId, sent);
  return endpoints;
}

/** Returns whether the text is an existing date and time in the format `YYYY-MM-DD HH:MM:SS`. */
export const isDateTime = (text: string): boolean =>
  isCalendarDate(text.slice(0, 10)) && /^(?:[01]\d|2[0-3])(?::[0-5]\d){2}$/.test(text.slice(11));
