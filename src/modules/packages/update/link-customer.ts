import { settledFact } from '../intake/announcements.js';
import type { Followed, UpdateContext } from './renumbering.js';
import { receiveAwaited, type Editable } from './queries.js';

/**
 * Answers the pre-alerts of a package's customer once the package is linked to it, with the parcel locked. A pre-alert
 * that a courier made while the customer was unknown has been pending until now.
 */
export async function receiveAnnouncements(
  { db, tx, caller }: UpdateContext,
  before: Editable,
  after: Editable,
): Promise<Followed> {
  const isLinked = after.user_code !== null && after.user_code !== before.user_code;
  if (!isLinked) return { columns: {}, facts: [] };
  const received = await tx.query<{ id: string }>(receiveAwaited(db, caller, after));
  const [oldest] = received.map(({ id }) => id).sort();
  return {
    columns: oldest && before.prealert_id === null ? { prealert_id: oldest } : {},
    facts: received.map(({ id }) => settledFact({ id, status: 'pending' }, 'received')),
  };
}
