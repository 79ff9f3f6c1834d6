import { differenceOf } from '../../../platform/audit/difference.js';
import { factOf, type AuditFact } from '../../../platform/audit/audit.js';
import type { Prealert } from '../../../platform/db/models/types.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { ownOrAll } from '../../tracking-numbers/public.js';
import { findCustomers } from '../intake/queries.js';
import { emitPackageEvents, reportChanged } from '../../webhooks/public.js';
import {
  changeOwner,
  customerOfPrealert,
  lockedParcelPackages,
  type ClaimedColumns,
  type ClaimedRow,
} from './queries.js';

/** A pre-alert under review by staff, or a claim of a courier. */
export type ReviewedPrealert = Pick<Prealert, 'courierId' | 'userCode' | 'vendor' | 'description'> & {
  /** The pre-alert. Null for a claim of a parcel that the courier has not announced. */
  id: string | null;
  /** The keys of its parcel, its own first. */
  keys: string[];
};

/** What staff have decided. */
export type Decision = {
  assign: boolean;
  /** The package that they name, which is needed if several packages fit the number. */
  package_id?: string | undefined;
};

export type Claim = {
  /** The package that the pre-alert is matched with, or null. */
  packageId: string | null;
  /** The key of that package, or null. */
  trackingKey: string | null;
  /** When it was received, or null. */
  receivedAt: Date | null;
  /** The package's change of owner: a new courier, only a new customer, or none. */
  change: 'courier' | 'customer' | 'none';
  /** The change for the audit trail. */
  facts: AuditFact[];
};

/**
 * Matches a pre-alert with the package of its tracking number, if that package belongs to the courier. The
 * caller must hold the parcel's lock. With `assign`, a package of unknown owner is assigned to the
 * courier and its customer, as at intake.
 * @throws ApiError package_not_assignable, validation_failed if several packages fit and none is named
 */
export async function claimPackage(
  tx: UserTx,
  prealert: ReviewedPrealert,
  decision: Decision,
): Promise<Claim> {
  const { assign: isAssigning } = decision;
  const rows = await tx.query(lockedParcelPackages(tx, prealert.keys, prealert.userCode));
  const row = choosePackage(rows, prealert, decision);
  if (isAssigning) assertAssignable(row, prealert);
  const isCouriers = row?.courier_id === prealert.courierId;
  if (!row || (!isCouriers && !isAssigning))
    return { packageId: null, trackingKey: null, receivedAt: null, change: 'none', facts: [] };
  const isOwnerless = row.user_code === null && isAssigning;
  const owner = isOwnerless ? await ownerColumns(tx, row, prealert) : {};
  const { id, trackingKey, receivedAt, isCustomers, ...before } = row;
  const isMatch = isOwnerless || isCustomers === true;
  const after = { ...before, ...owner, ...(isMatch ? { prealert_id: row.prealert_id ?? prealert.id } : {}) };
  const facts = listFacts(id, before, after);
  if (facts.length > 0) tx.later(changeOwner(tx, id, after));
  return { packageId: id, trackingKey, receivedAt, change: changeOf(before, after), facts };
}

/**
 * Returns the package that staff name, the one with the key of the pre-alert, or the only one. Without `assign`, only packages of the
 * courier count. Intake gives a pre-alert the key of the package that it is flagged with.
 */
function choosePackage(
  rows: ClaimedRow[],
  { courierId, keys }: ReviewedPrealert,
  { assign, package_id }: Decision,
): ClaimedRow | undefined {
  if (package_id !== undefined) {
    const named = rows.find(({ id }) => id === package_id);
    if (!named) throw new ApiError('package_not_assignable', { variant: 'other_number' });
    return named;
  }
  const left = ownOrAll(rows, keys);
  const fitting =
    assign || left.length === 1 ? left : left.filter(({ courier_id }) => courier_id === courierId);
  const numbers = fitting.map(({ trackingKey }) => trackingKey).join(', ');
  if (fitting.length > 1) throw invalidFieldError('package_id', 'several_packages', { numbers });
  return fitting[0];
}

/** Notifies the courier of the change. */
export async function notifyCourierOfClaim(tx: UserTx, { packageId, change }: Claim): Promise<void> {
  if (packageId === null || change === 'none') return;
  if (change === 'courier') return emitPackageEvents(tx, 'package.created', [{ packageId }]);
  reportChanged(tx, packageId);
}

function assertAssignable(row: ClaimedRow | undefined, prealert: ReviewedPrealert): void {
  if (!row) throw new ApiError('package_not_assignable');
  const isSibling = row.courier_id !== null && row.courier_id !== prealert.courierId;
  const isOthers = row.user_code !== null && row.isCustomers !== true;
  if (!isSibling && !isOthers) return;
  throw new ApiError('package_not_assignable', { variant: 'owned' });
}

/** Applies the rule of intake: if no active customer has the user code, only the courier is set. */
async function ownerColumns(
  tx: UserTx,
  row: ClaimedRow,
  { id, courierId, userCode, vendor, description }: ReviewedPrealert,
): Promise<Partial<ClaimedColumns>> {
  const [customer] = await tx.query(
    id === null ? findCustomers(tx, userCode, courierId) : customerOfPrealert(tx, id),
  );
  return {
    courier_id: courierId,
    user_code: customer?.userCode ?? null,
    first_name: customer?.firstName ?? row.first_name,
    last_name: customer?.lastName ?? row.last_name,
    shipper: row.shipper ?? vendor,
    description: row.description ?? description,
  };
}

function changeOf(before: ClaimedColumns, after: ClaimedColumns): Claim['change'] {
  if (before.courier_id !== after.courier_id) return 'courier';
  return before.user_code === after.user_code ? 'none' : 'customer';
}

/** Returns the audit entry of the changed columns, or an empty array if nothing changed. */
function listFacts(entityId: string, before: ClaimedColumns, after: ClaimedColumns): AuditFact[] {
  // `before` has exactly the keys of ClaimedColumns.
  const difference = differenceOf(before, after, Object.keys(before) as (keyof ClaimedColumns)[]);
  return difference ? [factOf('package.assigned', entityId, difference)] : [];
}
