import { factOf, type AuditFact } from '../../../platform/audit/audit.js';
import { pauseWhenDue } from '../../../platform/concurrency/pause-when-due.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { emitPrealertEvents } from '../../webhooks/public.js';
import { readOpenPrealerts, settledFact } from '../intake/open-prealerts.js';
import { decideOwnership, type Customer, type EnteredOwner, type OpenPrealert } from '../intake/ownership.js';
import {
  findOpenPrealerts,
  lockOpenPrealerts,
  settlePrealerts,
  type OpenPrealertRow,
} from '../intake/prealert-queries.js';
import { keyOfStored } from '../../tracking-numbers/public.js';
import { keysOfPackage } from './lock-package.js';
import {
  openWithKey,
  presentCodeOfPackage,
  reopenPrealerts,
  restoreKeys,
  type Editable,
  type ReopenedRow,
  receivePendingPrealerts,
} from './queries.js';

/** The further effects of an update: more changed columns, and the audit entries of pre-alerts. */
export type UpdateEffects = { columns: Partial<Editable>; facts: AuditFact[] };

/** A package before and after an update. */
export type PackageChange = { id: string; before: Editable; after: Editable };

/**
 * Applies a package's new number to the pre-alerts. The caller must hold the locks of both parcels.
 * Pre-alerts of the old number that the package had matched become pending again. Pre-alerts of the new
 * number are settled by the rule of intake: if they agree with the package's owner, they also set its
 * customer if it has none. Otherwise they are flagged and the package keeps its owner. Unlike at intake, the
 * package may already be billed or on a manifest; staff decide when they review the flag.
 */
export async function movePrealerts(
  tx: UserTx,
  { id, before, after }: PackageChange,
): Promise<UpdateEffects> {
  const keys = keysOfPackage(after);
  const { reopened, announced } = await reopen(tx, before, keys);
  const prealerts = await readOpenPrealerts(tx, announced, keys, after.tracking_number);
  const owner = await presentOwner(tx, { id, before, after }, prealerts);
  const ownership = decideOwnership(owner, prealerts, after.tracking_number);
  const { courierId, customer, matchedPrealert, prealertStatus } = ownership;
  // A package without a courier cannot be identified as the announced one.
  const isMatch = courierId !== null && courierId === after.courier_id && prealertStatus === 'received';
  const status = isMatch ? 'received' : 'flagged';
  const ids = prealerts.map(({ id }) => id);
  if (ids.length > 0) tx.later(settlePrealerts(tx, ids, after.tracking_key, status));
  const settled = prealerts.filter((prealert) => prealert.status !== status);
  emitPrealertEvents(tx, 'prealert.reopened', reopened);
  emitPrealertEvents(tx, `prealert.${status}`, settled);
  const matchedId = isMatch ? (matchedPrealert?.id ?? null) : null;
  return {
    columns: {
      ...(matchedId === before.prealert_id ? {} : { prealert_id: matchedId }),
      ...(isMatch && customer && after.user_code === null ? namesOf(customer, after) : {}),
    },
    facts: [
      ...reopened.map((prealert) => reopenedFact(prealert)),
      ...settled.map((prealert) => settledFact(prealert, status)),
    ],
  };
}

type Reopened = { reopened: ReopenedRow[]; announced: OpenPrealertRow[] };

/**
 * Sets the pre-alerts of the old number to pending, and finds those of the new one. A short number may fit both, so the keys of the old
 * package are removed before.
 */
async function reopen(tx: UserTx, before: Editable, keys: string[]): Promise<Reopened> {
  const find = [lockOpenPrealerts(tx, keys), findOpenPrealerts(tx, keys)] as const;
  const [open, reopened, , announced] = await tx.query([
    openWithKey(tx, before.tracking_key),
    reopenPrealerts(tx, before.courier_id, keysOfPackage(before)),
    ...find,
  ]);
  const renamed = await ownKeys([...open, ...reopened]);
  if (renamed.length === 0) return { reopened, announced };
  const [, , again] = await tx.query([restoreKeys(tx, renamed), ...find]);
  return { reopened, announced: again };
}

/** Returns the pre-alerts that have the key of their package instead of their own, once each, with the key of their own number. */
export async function ownKeys(rows: readonly ReopenedRow[]): Promise<{ id: string; key: string }[]> {
  const renamed = new Map<string, { id: string; key: string }>();
  for (const row of rows) {
    await pauseWhenDue();
    const key = keyOfStored(row);
    if (key !== row.trackingKey) renamed.set(row.id, { id: row.id, key });
  }
  return [...renamed.values()];
}

/** The owner of the package. A stored code is compared as the one that its customer has now. */
async function presentOwner(
  tx: UserTx,
  { id, before, after }: PackageChange,
  prealerts: OpenPrealert[],
): Promise<EnteredOwner> {
  const owner = ownerOf(after);
  const { courierId, customer } = owner;
  if (!customer || customer.userCode !== before.user_code) return owner;
  const others = prealerts
    .filter((prealert) => prealert.courierId === courierId)
    .map(({ userCode }) => userCode);
  const codes = [...new Set(others)].filter((code) => code !== customer.userCode);
  if (codes.length === 0) return owner;
  const [present] = await tx.query(presentCodeOfPackage(tx, id, codes));
  return { courierId, customer: { ...customer, ...present } };
}

function ownerOf({
  courier_id: courierId,
  user_code: userCode,
  first_name,
  last_name,
}: Editable): EnteredOwner {
  const names = { firstName: first_name ?? '', lastName: last_name ?? '' };
  return { courierId, customer: courierId && userCode ? { courierId, userCode, ...names } : null };
}

/** Sets the customer of a package that has none. Existing names are not changed. */
const namesOf = ({ userCode, firstName, lastName }: Customer, after: Editable): Partial<Editable> => ({
  user_code: userCode,
  ...(after.first_name === null ? { first_name: firstName } : {}),
  ...(after.last_name === null ? { last_name: lastName } : {}),
});

export const reopenedFact = ({ id }: { id: string }, from: 'received' | 'flagged' = 'received'): AuditFact =>
  factOf('prealert.reopened', id, { before: { status: from }, after: { status: 'pending' } });

/**
 * Marks the pre-alerts of a package's customer as received once the package is linked to the customer. The
 * caller must hold the parcel's lock. Such a pre-alert was created while the package had no customer, and was
 * pending.
 */
export async function receivePrealerts(tx: UserTx, { before, after }: PackageChange): Promise<UpdateEffects> {
  const isLinked = after.user_code !== null && after.user_code !== before.user_code;
  if (!isLinked) return { columns: {}, facts: [] };
  const received = await tx.query(receivePendingPrealerts(tx, after, keysOfPackage(after)));
  emitPrealertEvents(tx, 'prealert.received', received);
  const [oldest] = received.map(({ id }) => id).sort();
  return {
    columns: oldest && before.prealert_id === null ? { prealert_id: oldest } : {},
    facts: received.map(({ id }) => settledFact({ id, status: 'pending' }, 'received')),
  };
}
