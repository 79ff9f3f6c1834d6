import { auditStatement } from '../../../platform/audit/audit.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import { ownRows } from '../../../platform/db/filters.js';
import { lockParcel } from '../../../platform/db/locks.js';
import { transaction, sql, type Db } from '../../../platform/db/transaction.js';
import { violates } from '../../../platform/db/violations.js';
import { ApiError, fieldError, invalidFieldError } from '../../../platform/errors/errors.js';
import { trackingKey } from '../../tracking-numbers/public.js';
import { findCustomers, type CustomerRow } from '../intake/queries.js';
import { receivePrealerts } from './receive-prealerts.js';
import { movePrealerts, type UpdateContext } from './move-prealerts.js';
import { queueSyncs } from '../dispatch/queue-syncs.js';
import {
  assertPermitted,
  findChanges,
  readFields,
  type PackageUpdate,
  type RequestedFields,
} from './fields.js';
import * as queries from './queries.js';
import type { Editable } from './queries.js';

export type { PackageUpdate };

/**
 * Changes the fields that differ from the stored ones, and queues the package for synchronisation. Of
 * identical concurrent updates, only the first changes anything. Returns the number of changed fields of the
 * body.
 * @throws ApiError package_not_found, record_forbidden, permission_denied, unknown_user_code,
 * validation_failed, duplicate_tracking_number
 */
export async function updatePackage(
  db: Db,
  caller: UserCaller,
  requestId: string,
  body: PackageUpdate,
): Promise<number> {
  const input = readFields(body);
  try {
    return await transaction(db, caller, async (tx) => {
      const context = { db, tx, caller, requestId };
      const before = await lockPackageAndParcels(context, body.package_id, input);
      const changes = findChanges(caller, before, input);
      assertPermitted(caller, before, changes);
      const fields = Object.keys(changes).length;
      if (fields === 0) return 0;
      const consequences = await deriveColumns(context, before, changes);
      await applyChanges(context, body.package_id, before, { ...changes, ...consequences });
      return fields;
    });
  } catch (error) {
    if (!violates(error, 'packages_tenant_id_tracking_key_key')) throw error;
    throw new ApiError('duplicate_tracking_number', { variant: 'package' });
  }
}

/**
 * Selects and locks the package. If the change can affect pre-alerts, first locks the parcels of the old and
 * the new number.
 */
async function lockPackageAndParcels(
  { db, tx, caller }: UpdateContext,
  id: string,
  input: RequestedFields,
): Promise<Editable> {
  const lock = async (keys: string[]) => {
    for (const key of keys) await tx.execute(lockParcel(caller.tenantId, key));
  };
  const locked = new Set<string>();
  // A courier cannot change the number. Waiting for the lock of the number it sends would reveal whether that
  // parcel exists.
  const newNumber = caller.courierId === null ? input.tracking_number : undefined;
  if (newNumber !== undefined || input.user_code) {
    const [found] = await tx.query<{ tracking_key: string }>(queries.findTrackingKey(db, caller, id));
    if (found) locked.add(found.tracking_key);
    if (found && newNumber !== undefined) locked.add(trackingKey(newNumber));
    // Locked before the row, as intake does, and sorted: two different orders would deadlock.
    await lock([...locked].sort());
  }
  const [row] = await tx.query<Editable>(queries.lockPackage(db, caller, id));
  if (!row) throw await hiddenPackageError({ tx, caller }, id);
  // A concurrent update has changed the number. If this lock deadlocks, PostgreSQL cancels one transaction
  // and it is retried.
  if (locked.size > 0 && !locked.has(row.tracking_key)) await lock([row.tracking_key]);
  return row;
}

async function hiddenPackageError(
  { tx, caller }: Pick<UpdateContext, 'tx' | 'caller'>,
  id: string,
): Promise<ApiError> {
  if (caller.courierId === null) return hiddenRecordError(caller, false);
  const [hidden] = await tx.query<{ is_couriers: boolean }>(queries.packageHasCourier(id));
  return hiddenRecordError(caller, hidden?.is_couriers === true);
}

/**
 * Returns the error for a package that the caller cannot see. `isCouriers`: it belongs to a courier of the
 * same tenant.
 */
export const hiddenRecordError = ({ courierId }: UserCaller, isCouriers: boolean): ApiError =>
  new ApiError(courierId !== null && isCouriers ? 'record_forbidden' : 'package_not_found');

/**
 * Returns the derived columns of an update: the tracking key, the courier of the customer, and who claimed
 * the package.
 */
async function deriveColumns(
  { db, tx, caller }: UpdateContext,
  before: Editable,
  { tracking_number, user_code }: Partial<Editable>,
): Promise<Partial<Editable>> {
  const key = tracking_number === undefined ? {} : { tracking_key: trackingKey(tracking_number) };
  const claim = user_code === undefined ? {} : claimColumns(caller, before);
  if (!user_code) return { ...key, ...claim };
  const [customer, another] = await tx.query<CustomerRow>(
    findCustomers(db, caller, user_code, before.courier_id),
  );
  if (another) throw invalidFieldError('user_code', 'ambiguous');
  if (!customer) throw unknownUserCode();
  const courier = before.courier_id === null ? { courier_id: customer.courier_id } : {};
  return { ...key, ...claim, ...courier };
}

/** A courier that names the customer of a package without one claims it. A change by staff ends the claim. */
function claimColumns(caller: UserCaller, before: Editable): Partial<Editable> {
  const isClaiming = caller.courierId !== null && before.user_code === null;
  const claimedBy = isClaiming ? caller.userId : caller.courierId === null ? null : before.claimed_by;
  return claimedBy === before.claimed_by ? {} : { claimed_by: claimedBy };
}

function unknownUserCode(): ApiError {
  return new ApiError('unknown_user_code', { errors: [fieldError('user_code', 'unknown_user_code')] });
}

async function applyChanges(
  context: UpdateContext,
  id: string,
  before: Editable,
  changes: Partial<Editable>,
): Promise<void> {
  const { db, tx, caller, requestId } = context;
  const after = { ...before, ...changes };
  const isRenumbered = after.tracking_key !== before.tracking_key;
  const effects = await (isRenumbered ? movePrealerts : receivePrealerts)(context, before, after);
  const all = { ...changes, ...effects.columns };
  await tx.execute(queries.changePackage(db, caller, id, all));
  // `all` has only columns of Editable.
  const previous = Object.fromEntries(
    (Object.keys(all) as (keyof Editable)[]).map((key) => [key, before[key]]),
  );
  const fact = {
    action: 'package.updated',
    entity: 'package',
    entityId: id,
    before: previous,
    after: all,
  } as const;
  await tx.execute(auditStatement(caller, requestId, [fact, ...effects.facts]));
  await tx.query(queueSyncs(caller, sql`${ownRows(db, caller, 'p')} and p.id = ${id}::uuid`));
}
