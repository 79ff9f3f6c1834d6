import { auditStatement } from '../../../platform/audit/audit.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import { ownRows } from '../../../platform/db/filters.js';
import { lockParcel } from '../../../platform/db/locks.js';
import { transaction, sql, type Db } from '../../../platform/db/transaction.js';
import { violates } from '../../../platform/db/violations.js';
import { ApiError, fieldError, invalidFieldError } from '../../../platform/errors/errors.js';
import { trackingKey } from '../../tracking-numbers/public.js';
import { findCustomers, type CustomerRow } from '../intake/queries.js';
import { receiveAnnouncements } from './link-customer.js';
import { moveAnnouncements, type UpdateContext } from './renumbering.js';
import { queueSyncs } from '../dispatch/queue-syncs.js';
import { assertPermitted, findChanges, readFields, type PackageUpdate, type Wanted } from './fields.js';
import * as queries from './queries.js';
import type { Editable } from './queries.js';

export type { PackageUpdate };

/**
 * Changes the fields that differ from what is stored, and queues the package for its courier's system; whoever
 * sends the same at the same time finds nothing left to change. Answers how many of the body's fields changed.
 *
 * @throws ApiError package_not_found, record_forbidden, permission_denied, unknown_user_code, validation_failed,
 *   duplicate_tracking_number
 */
export async function updatePackage(
  db: Db,
  caller: UserCaller,
  requestId: string,
  body: PackageUpdate,
): Promise<number> {
  const wanted = readFields(body);
  try {
    return await transaction(db, caller, async (tx) => {
      const context = { db, tx, caller, requestId };
      const before = await holdPackage(context, body.package_id, wanted);
      const changes = findChanges(caller, before, wanted);
      assertPermitted(caller, before, changes);
      const fields = Object.keys(changes).length;
      if (fields === 0) return 0;
      const consequences = await findConsequences(context, before, changes);
      await applyChanges(context, body.package_id, before, { ...changes, ...consequences });
      return fields;
    });
  } catch (error) {
    if (!violates(error, 'packages_tenant_id_tracking_key_key')) throw error;
    throw new ApiError('duplicate_tracking_number', { variant: 'package' });
  }
}

/** Reads and locks the package and, where pre-alerts may follow the change, the parcels of its numbers. */
async function holdPackage({ db, tx, caller }: UpdateContext, id: string, wanted: Wanted): Promise<Editable> {
  const lock = async (keys: string[]) => {
    for (const key of keys) await tx.execute(lockParcel(caller.tenantId, key));
  };
  const locked = new Set<string>();
  // a courier cannot change the number: to wait for the parcel of the one that it sends would tell of that parcel
  const newNumber = caller.courierId === null ? wanted.tracking_number : undefined;
  if (newNumber !== undefined || wanted.user_code) {
    const [found] = await tx.query<{ tracking_key: string }>(queries.findTrackingKey(db, caller, id));
    if (found) locked.add(found.tracking_key);
    if (found && newNumber !== undefined) locked.add(trackingKey(newNumber));
    // before the row, as intake takes them, and sorted: two orders would deadlock
    await lock([...locked].sort());
  }
  const [row] = await tx.query<Editable>(queries.lockPackage(db, caller, id));
  if (!row) throw await whyHidden({ tx, caller }, id);
  // another update has renumbered it in between; a deadlock, if this makes one, is broken and repeated
  if (locked.size > 0 && !locked.has(row.tracking_key)) await lock([row.tracking_key]);
  return row;
}

async function whyHidden(
  { tx, caller }: Pick<UpdateContext, 'tx' | 'caller'>,
  id: string,
): Promise<ApiError> {
  if (caller.courierId === null) return hiddenRecordError(caller, false);
  const [hidden] = await tx.query<{ is_couriers: boolean }>(queries.packageHasCourier(id));
  return hiddenRecordError(caller, hidden?.is_couriers === true);
}

/** What a caller is told of a package that it cannot see; `isCouriers` where it is a courier's of the same tenant. */
export const hiddenRecordError = ({ courierId }: UserCaller, isCouriers: boolean): ApiError =>
  new ApiError(courierId !== null && isCouriers ? 'record_forbidden' : 'package_not_found');

/** What follows from the fields that change: the key of a number, the courier of a customer, who claimed it. */
async function findConsequences(
  { db, tx, caller }: UpdateContext,
  before: Editable,
  { tracking_number, user_code }: Partial<Editable>,
): Promise<Partial<Editable>> {
  const key = tracking_number === undefined ? {} : { tracking_key: trackingKey(tracking_number) };
  const claim = user_code === undefined ? {} : claimOf(caller, before);
  if (!user_code) return { ...key, ...claim };
  const [customer, another] = await tx.query<CustomerRow>(
    findCustomers(db, caller, user_code, before.courier_id),
  );
  if (another) throw invalidFieldError('user_code', 'ambiguous');
  if (!customer) throw unknownUserCode();
  const courier = before.courier_id === null ? { courier_id: customer.courier_id } : {};
  return { ...key, ...claim, ...courier };
}

/** A courier that names the customer of a package without one claims it; staff's word ends the claim. */
function claimOf(caller: UserCaller, before: Editable): Partial<Editable> {
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
  const moved = await (isRenumbered ? moveAnnouncements : receiveAnnouncements)(context, before, after);
  const all = { ...changes, ...moved.columns };
  await tx.execute(queries.changePackage(db, caller, id, all));
  // as: the keys of columns
  const was = Object.fromEntries((Object.keys(all) as (keyof Editable)[]).map((key) => [key, before[key]]));
  const fact = {
    action: 'package.updated',
    entity: 'package',
    entityId: id,
    before: was,
    after: all,
  } as const;
  await tx.execute(auditStatement(caller, requestId, [fact, ...moved.facts]));
  await tx.query(queueSyncs(caller, sql`${ownRows(db, caller, 'p')} and p.id = ${id}::uuid`));
}
