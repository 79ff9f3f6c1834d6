import type { AuditFact } from '../../../platform/audit/audit.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { readOpenPrealerts, settledFact } from '../intake/open-prealerts.js';
import { decideOwnership, type Customer } from '../intake/ownership.js';
import { findOpenPrealerts, lockOpenPrealerts, settlePrealerts } from '../intake/prealert-queries.js';
import { readScan } from '../../tracking-numbers/public.js';
import { keysOfPackage } from './lock-package.js';
import { reopenPrealerts, restoreKeys, type Editable, type ReopenedRow } from './queries.js';

/** The further effects of an update: more changed columns, and the audit entries of pre-alerts. */
export type UpdateEffects = { columns: Partial<Editable>; facts: AuditFact[] };

/**
 * Applies a package's new number to the pre-alerts. The caller must hold the locks of both parcels.
 * Pre-alerts of the old number that the package had matched become pending again. Pre-alerts of the new
 * number are settled by the rule of intake: if they agree with the package's owner, they also set its
 * customer if it has none. Otherwise they are flagged and the package keeps its owner. Unlike at intake, the
 * package may already be billed or on a manifest; staff decide when they review the flag.
 */
export async function movePrealerts(tx: UserTx, before: Editable, after: Editable): Promise<UpdateEffects> {
  const keys = keysOfPackage(after);
  const [reopened, , announced] = await tx.query([
    reopenPrealerts(tx, before.courier_id, keysOfPackage(before)),
    lockOpenPrealerts(tx, keys),
    findOpenPrealerts(tx, keys),
  ]);
  const renamed = reopened.flatMap(ownKey);
  if (renamed.length > 0) tx.later(restoreKeys(tx, renamed));
  const prealerts = await readOpenPrealerts(tx, announced, keys, after.tracking_number);
  const ownership = decideOwnership(ownerOf(after), prealerts, after.tracking_number);
  const { courierId, customer, matchedPrealert, prealertStatus } = ownership;
  // A package without a courier cannot be identified as the announced one.
  const isMatch = courierId !== null && courierId === after.courier_id && prealertStatus === 'received';
  const status = isMatch ? 'received' : 'flagged';
  const ids = prealerts.map(({ id }) => id);
  if (ids.length > 0) tx.later(settlePrealerts(tx, ids, keys, status));
  const settled = prealerts.filter((prealert) => prealert.status !== status);
  const matchedId = isMatch ? (matchedPrealert?.id ?? null) : null;
  return {
    columns: {
      ...(matchedId === before.prealert_id ? {} : { prealert_id: matchedId }),
      ...(isMatch && customer && after.user_code === null ? namesOf(customer, after) : {}),
    },
    facts: [...reopened.map(reopenedFact), ...settled.map((prealert) => settledFact(prealert, status))],
  };
}

/** A pre-alert that had the key of its package, and the key of its own number. */
function ownKey({ id, trackingKey, trackingNumber }: ReopenedRow): { id: string; key: string }[] {
  const [number, another] = readScan(trackingNumber).numbers;
  return number && !another && number.key !== trackingKey ? [{ id, key: number.key }] : [];
}

function ownerOf({ courier_id: courierId, user_code: userCode, first_name, last_name }: Editable) {
  const names = { firstName: first_name ?? '', lastName: last_name ?? '' };
  return { courierId, customer: courierId && userCode ? { courierId, userCode, ...names } : null };
}

/** Sets the customer of a package that has none. Existing names are not changed. */
const namesOf = ({ userCode, firstName, lastName }: Customer, after: Editable): Partial<Editable> => ({
  user_code: userCode,
  ...(after.first_name === null ? { first_name: firstName } : {}),
  ...(after.last_name === null ? { last_name: lastName } : {}),
});

const reopenedFact = ({ id }: { id: string }): AuditFact => ({
  action: 'prealert.reopened',
  entity: 'prealert',
  entityId: id,
  before: { status: 'received' },
  after: { status: 'pending' },
});
