import type { AuditFact } from '../audit.js';
import type { UserCaller } from '../auth/callers.js';
import type { Db, Tx } from '../db/transaction.js';
import { findAnnouncements, settledFact } from './announcements.js';
import { settleAnnouncements } from './intake-queries.js';
import { decideOwnership } from './ownership.js';
import { reopenAnnouncements, type Editable } from './update-queries.js';

export type UpdateContext = { db: Db; tx: Tx; caller: UserCaller; requestId: string };

/**
 * Lets pre-alerts follow a package's new number, both parcels being held: those of the old one that the package had
 * answered wait again, those of the new one are settled as at intake. The package's owner stays: pre-alerts that
 * name another are flagged. A courier's change moves its own pre-alerts alone, since it sees no other's.
 */
export async function moveAnnouncements(
  { db, tx, caller }: UpdateContext,
  before: Editable,
  after: Editable,
): Promise<{ columns: Pick<Partial<Editable>, 'prealert_id'>; facts: AuditFact[] }> {
  if (after.tracking_key === before.tracking_key) return { columns: {}, facts: [] };
  const reopened = before.courier_id
    ? await tx.query<{ id: string }>(reopenAnnouncements(db, caller, before.courier_id, before.tracking_key))
    : [];
  const announcements = await findAnnouncements(db, tx, caller, after.tracking_key);
  const { courierId, answers, announcementStatus } = decideOwnership(
    ownerOf(after),
    announcements,
    after.tracking_number,
  );
  // of a package of no courier nobody can say that it is the one announced
  const isAnswer = courierId !== null && courierId === after.courier_id && announcementStatus === 'received';
  const status = isAnswer ? 'received' : 'flagged';
  const ids = announcements.map(({ id }) => id);
  if (ids.length > 0) await tx.execute(settleAnnouncements(db, caller, ids, status));
  const settled = announcements.filter((each) => each.status !== status);
  const answered = isAnswer ? (answers?.id ?? null) : null;
  return {
    columns: answered === before.prealert_id ? {} : { prealert_id: answered },
    facts: [...reopened.map(reopenedFact), ...settled.map((each) => settledFact(each, status))],
  };
}

function ownerOf({ courier_id: courierId, user_code: userCode, first_name, last_name }: Editable) {
  const names = { firstName: first_name ?? '', lastName: last_name ?? '' };
  return { courierId, customer: courierId && userCode ? { courierId, userCode, ...names } : null };
}

const reopenedFact = ({ id }: { id: string }): AuditFact => ({
  action: 'prealert.reopened',
  entity: 'prealert',
  entityId: id,
  before: { status: 'received' },
  after: { status: 'pending' },
});
