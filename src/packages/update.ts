import { auditStatement } from '../audit.js';
import type { UserCaller } from '../auth/callers.js';
import type { BodyOf } from '../contract/types.js';
import { ownRows } from '../db/filters.js';
import { lockParcel } from '../db/locks.js';
import { inScope, sql, type Db } from '../db/transaction.js';
import { violates } from '../db/violations.js';
import { Fault, invalidField } from '../errors.js';
import { trackingKey } from '../tracking-key.js';
import { findCustomers, type CustomerRow } from './intake-queries.js';
import { maskTrackingNumber } from './masking.js';
import { toInches, toPounds } from './measures.js';
import { moveAnnouncements, type UpdateContext } from './renumbering.js';
import { queueSyncs } from './sync.js';
import * as queries from './update-queries.js';
import type { Editable } from './update-queries.js';

export type PackageUpdate = BodyOf<'updatePackage'>;

/**
 * Changes the fields that differ from what is stored, and queues the package for its courier's system; whoever
 * sends the same at the same time finds nothing left to change. Answers how many of the body's fields changed.
 *
 * @throws Fault package_not_found, record_forbidden, unknown_user_code, validation_failed, duplicate_tracking_number
 */
export async function updatePackage(
  db: Db,
  caller: UserCaller,
  requestId: string,
  body: PackageUpdate,
): Promise<number> {
  const wanted = readFields(body);
  try {
    return await inScope(db, caller, async (tx) => {
      const context = { db, tx, caller, requestId };
      const before = await holdPackage(context, body.package_id, wanted.tracking_number);
      const changes = findChanges(caller, before, wanted);
      const fields = Object.keys(changes).length;
      if (fields === 0) return 0;
      const consequences = await findConsequences(context, before, changes);
      await applyChanges(context, body.package_id, before, { ...changes, ...consequences });
      return fields;
    });
  } catch (error) {
    if (!violates(error, 'packages_tenant_id_tracking_key_key')) throw error;
    throw new Fault('duplicate_tracking_number', 'Another package has this tracking number.');
  }
}

/** A text as sent, which may be empty; numbers as decimals. */
function readFields(body: PackageUpdate) {
  const { user_code, first_name, last_name, shipper, description, package_type } = body;
  const { weight, length, width, height, tracking_number } = body;
  return {
    ...{ user_code, first_name, last_name, shipper, description, package_type },
    tracking_number: tracking_number?.trim(),
    weight_lb: weight === undefined ? undefined : toPounds(weight),
    length_in: length === undefined ? undefined : toInches(length),
    width_in: width === undefined ? undefined : toInches(width),
    height_in: height === undefined ? undefined : toInches(height),
  };
}

type Wanted = ReturnType<typeof readFields>;

/** Reads and holds the package and, where its number changes, both parcels. */
async function holdPackage(
  { db, tx, caller }: UpdateContext,
  id: string,
  newNumber: string | undefined,
): Promise<Editable> {
  const lock = async (keys: string[]) => {
    for (const key of keys) await tx.execute(lockParcel(caller.tenantId, key));
  };
  const locked = new Set<string>();
  if (newNumber !== undefined) {
    const [found] = await tx.query<{ tracking_key: string }>(queries.findTrackingKey(db, caller, id));
    if (found) locked.add(found.tracking_key).add(trackingKey(newNumber));
    // before the row, as intake takes them, and sorted: two orders would deadlock
    await lock([...locked].sort());
  }
  const [row] = await tx.query<Editable>(queries.lockPackage(db, caller, id));
  if (!row) throw await whyHidden({ tx, caller }, id);
  // another update has renumbered it in between; a deadlock, if this makes one, is broken and repeated
  if (locked.size > 0 && !locked.has(row.tracking_key)) await lock([row.tracking_key]);
  return row;
}

async function whyHidden({ tx, caller }: Pick<UpdateContext, 'tx' | 'caller'>, id: string): Promise<Fault> {
  if (caller.courierId === null) return hiddenFault(caller, false);
  const [hidden] = await tx.query<{ is_couriers: boolean }>(queries.packageHasCourier(id));
  return hiddenFault(caller, hidden?.is_couriers === true);
}

/** What a caller is told of a package that it cannot see; `isCouriers` where it is a courier's of the same tenant. */
export const hiddenFault = ({ courierId }: UserCaller, isCouriers: boolean): Fault =>
  new Fault(courierId !== null && isCouriers ? 'record_forbidden' : 'package_not_found');

/** What differs, one entry a field of the body. */
function findChanges(caller: UserCaller, before: Editable, wanted: Wanted): Partial<Editable> {
  const given = { ...wanted, tracking_number: readNumber(caller, before, wanted) };
  const differing = Object.entries(given).filter(
    // as: wanted has no other keys; what is not there is sent as an empty text
    ([column, value]) => value !== undefined && value !== (before[column as keyof Editable] ?? ''),
  );
  return Object.fromEntries(differing.map(([column, value]) => [column, value === '' ? null : value]));
}

/**
 * The new number, if one is sent. A courier that is shown a masked one may send it back unchanged, and nothing
 * else: to be told that a guess changes nothing would tell it the hidden part.
 */
function readNumber(caller: UserCaller, before: Editable, wanted: Wanted): string | undefined {
  const number = wanted.tracking_number;
  const isMasked = caller.courierId !== null && before.user_code === null;
  if (number === undefined || !isMasked) return number;
  if (number === maskTrackingNumber(before.tracking_number)) return undefined;
  if (wanted.user_code) return number;
  throw invalidField(
    'tracking_number',
    'is hidden while the customer is unknown: send user_code too',
    'hidden',
  );
}

/** What follows from the fields that change: the key of a number, the courier of a customer. */
async function findConsequences(
  { db, tx, caller }: UpdateContext,
  before: Editable,
  { tracking_number, user_code }: Partial<Editable>,
): Promise<Partial<Editable>> {
  const key = tracking_number === undefined ? {} : { tracking_key: trackingKey(tracking_number) };
  if (!user_code) return key;
  const [customer, another] = await tx.query<CustomerRow>(
    findCustomers(db, caller, user_code, before.courier_id),
  );
  if (another) throw invalidField('user_code', 'is that of customers of several couriers', 'ambiguous');
  if (!customer) throw unknownUserCode();
  return before.courier_id === null ? { ...key, courier_id: customer.courier_id } : key;
}

function unknownUserCode(): Fault {
  const message = 'user_code must be the user code of an active customer of the courier.';
  return new Fault('unknown_user_code', message, {
    errors: [{ field: 'user_code', code: 'unknown', message }],
  });
}

async function applyChanges(
  context: UpdateContext,
  id: string,
  before: Editable,
  changes: Partial<Editable>,
): Promise<void> {
  const { db, tx, caller, requestId } = context;
  const moved = await moveAnnouncements(context, before, { ...before, ...changes });
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
