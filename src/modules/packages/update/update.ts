import { unknownUserCode } from '../intake/referenced-records.js';
import { audit, factOf } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import { violates } from '../../../platform/db/violations.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { readNumber } from '../../tracking-numbers/public.js';
import { reportChanged } from '../../webhooks/public.js';
import type { ExecuteWaitingScans } from '../intake/intake.js';
import { findCustomers } from '../intake/queries.js';
import { assertPermitted, findChanges, readFields, type PackageUpdate } from './fields.js';
import { keysOfPackage, lockPackageAndParcels } from './lock-package.js';
import { movePrealerts, receivePrealerts } from './move-prealerts.js';
import { changePackage, isDisputed, type Editable } from './queries.js';

/**
 * Changes the fields that differ from the stored ones, and queues the package for synchronisation. Of
 * identical concurrent updates, only the first changes anything. Scans of stations that have waited for a new
 * number are executed (decision 0089). Returns the number of changed fields of the body.
 * @throws ApiError package_not_found, record_forbidden, permission_denied, unknown_user_code,
 * validation_failed, duplicate_tracking_number, parcel_disputed
 */
export async function updatePackage(
  ctx: UserContext,
  body: PackageUpdate,
  executeWaitingScans: ExecuteWaitingScans,
): Promise<number> {
  const { caller } = ctx;
  const input = readFields(body);
  try {
    return await ctx.write(async (tx) => {
      const locked = await lockPackageAndParcels(tx, body.package_id, input);
      const { row: before, isNumberTaken, isScanned } = locked;
      const requested = findChanges(caller, before, input);
      assertPermitted(caller, before, requested);
      await assertUndisputed(tx, body.package_id, before, requested);
      const changes = readNewNumber(before, requested, isNumberTaken);
      const fields = Object.keys(changes).filter((column) => column !== 'tracking_key').length;
      if (fields === 0) return 0;
      const derived = await deriveColumns(tx, before, changes);
      await applyChanges(tx, body.package_id, before, { ...changes, ...derived });
      if (changes.tracking_key !== undefined && isScanned)
        await executeWaitingScans(tx, keysOfRenumbered(before, changes));
      return fields;
    });
  } catch (error) {
    if (!violates(error, 'packages_tenant_id_tracking_key_key')) throw error;
    throw new ApiError('duplicate_tracking_number', { variant: 'package' });
  }
}

/**
 * Returns the changes with the new tracking number as it is stored, and its key. A number that only a scanner's additions
 * distinguish from the stored one is no change.
 * @throws ApiError validation_failed, duplicate_tracking_number for a number or house number of another package
 */
function readNewNumber(
  before: Editable,
  { tracking_number: sent, ...others }: Partial<Editable>,
  isTaken: boolean,
): Partial<Editable> {
  if (sent === undefined) return others;
  const { text, key } = readNumber(sent, 'tracking_number');
  if (text === before.tracking_number) return others;
  if (isTaken) throw new ApiError('duplicate_tracking_number', { variant: 'package' });
  return { ...others, tracking_number: text, tracking_key: key };
}

/** The keys of the new number, then the old key, under which a place can still be stored. */
const keysOfRenumbered = (before: Editable, changes: Partial<Editable>): string[] => [
  ...new Set([...keysOfPackage({ ...before, ...changes }), before.tracking_key]),
];

/** Returns the derived columns of an update: the courier of the customer, and who claimed the package. */
async function deriveColumns(
  tx: UserTx,
  before: Editable,
  { user_code }: Partial<Editable>,
): Promise<Partial<Editable>> {
  const claim = user_code === undefined ? {} : claimColumns(tx.caller, before);
  if (!user_code) return claim;
  const [customer, another] = await tx.query(findCustomers(tx, user_code, before.courier_id));
  if (another) throw invalidFieldError('user_code', 'ambiguous');
  if (!customer) throw unknownUserCode('user_code');
  const courier = before.courier_id === null ? { courier_id: customer.courierId } : {};
  return { ...claim, ...courier };
}

/**
 * A courier cannot set the customer of a package that another courier claims: the warehouse decides (decision 0120). Called under the
 * parcel's lock, so that no scan flags a pre-alert meanwhile.
 * @throws ApiError parcel_disputed
 */
async function assertUndisputed(
  tx: UserTx,
  id: string,
  before: Editable,
  { user_code }: Partial<Editable>,
): Promise<void> {
  if (!user_code || tx.caller.courierId === null || before.user_code !== null) return;
  const [found] = await tx.query(isDisputed(id, keysOfPackage(before)));
  if (found?.isDisputed) throw new ApiError('parcel_disputed');
}

/** A courier that names the customer of a package without one claims it. A change by staff ends the claim. */
function claimColumns(caller: UserCaller, before: Editable): Partial<Editable> {
  const isClaiming = caller.courierId !== null && before.user_code === null;
  const claimedBy = isClaiming ? caller.userId : caller.courierId === null ? null : before.claimed_by;
  return claimedBy === before.claimed_by ? {} : { claimed_by: claimedBy };
}

/** Writes changed columns of a locked package, with their effects on pre-alerts, the audit trail and synchronisation. */
export async function applyChanges(
  tx: UserTx,
  id: string,
  before: Editable,
  changes: Partial<Editable>,
): Promise<void> {
  const after = { ...before, ...changes };
  const isRenumbered = after.tracking_key !== before.tracking_key;
  const effects = await (isRenumbered ? movePrealerts : receivePrealerts)(tx, { id, before, after });
  const all = { ...changes, ...effects.columns };
  tx.later(changePackage(tx, id, all));
  // `all` has only columns of Editable.
  const columns = Object.keys(all) as (keyof Editable)[];
  const states = { before: Object.fromEntries(columns.map((key) => [key, before[key]])), after: all };
  tx.later(audit(tx, factOf('package.updated', id, states), ...effects.facts));
  reportChanged(tx, id);
}
