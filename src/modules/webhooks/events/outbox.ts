import type { Tx } from '../../../platform/db/scope.js';
import type { Sql } from '../../../platform/db/statements.js';
import { insertEvents, queueChangedPackages, wakeQueuesOfChanged, type EventBatch } from './event-queries.js';

/** What a transaction reports to couriers. */
type Outbox = {
  events: EventBatch[];
  /** The packages whose current state is sent to the courier's own system. */
  changed: string[];
};

// By transaction: whoever has `tx` has its outbox, so it is no hidden state (docs/architecture.md, rule 5).
const outboxes = new WeakMap<Tx, Outbox>();

/**
 * Returns what the transaction reports. It is stored when the work of the transaction is done, in two statements that lock packages,
 * counters and delivery queues in order. Transactions that locked them for one package after the other would deadlock
 * (decision 0086).
 */
export function outboxOf(tx: Tx): Outbox {
  const known = outboxes.get(tx);
  if (known) return known;
  const outbox: Outbox = { events: [], changed: [] };
  outboxes.set(tx, outbox);
  tx.last(() => statementsOf(tx, outbox));
  return outbox;
}

function statementsOf(tx: Tx, outbox: Outbox): Sql[] {
  const { events } = outbox;
  const changed = [...new Set(outbox.changed)];
  const queued = changed.length > 0 ? [queueChangedPackages(tx, changed)] : [];
  if (events.length > 0) return [...queued, insertEvents(tx, events, changed)];
  return changed.length > 0 ? [...queued, wakeQueuesOfChanged(tx, changed)] : [];
}

/**
 * Marks a changed package for synchronisation with the courier's own system. The worker sends the package's state at the time of
 * sending. A package that is already queued keeps its position.
 */
export function reportChanged(tx: Tx, packageId: string): void {
  outboxOf(tx).changed.push(packageId);
}
