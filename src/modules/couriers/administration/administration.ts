import type { UserCaller } from '../../../platform/identity/callers.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { transaction, snapshot, type Db } from '../../../platform/db/transaction.js';
import type { Deps } from '../../dependencies.js';
import { record, type Change } from '../shared/context.js';
import { changeFields } from '../settings/courier.js';
import { assertAcceptable } from '../shared/fields.js';
import { readRecord } from '../shared/read-record.js';
import { pickProfile, type CourierUpdate } from './fields.js';
import {
  countOfCouriers,
  pageOfCouriers,
  updateActivity,
  type RecordRow,
} from '../shared/administration-queries.js';

export async function listCouriers(
  db: Db,
  caller: UserCaller,
  query: QueryOf<'listCouriers'>,
): Promise<{ rows: RecordRow[]; total: number }> {
  const [rows, counted] = await snapshot(db, caller, [
    pageOfCouriers(db, caller, query),
    countOfCouriers(db, caller, query),
  ]);
  // The statement selects exactly these columns.
  return { rows: (rows ?? []) as RecordRow[], total: Number(counted?.[0]?.['total']) };
}

/**
 * Changes the given fields that differ.
 * @throws ApiError validation_failed, courier_not_found
 */
export async function updateCourier(
  { outbound }: Deps,
  change: Change,
  body: CourierUpdate,
): Promise<{ row: RecordRow; isChanged: boolean }> {
  const sent = pickProfile(body);
  assertAcceptable(sent, outbound);
  return transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const isChanged = await changeFields(ctx, sent);
    return { row: await readRecord(ctx), isChanged };
  });
}

/**
 * Activates or deactivates a courier. Every replica applies the change to requests that start after the
 * commit, because each transaction checks it in the same round trip.
 * @throws ApiError courier_not_found
 */
export async function setActivity(
  change: Change,
  isActive: boolean,
): Promise<{ row: RecordRow; isChanged: boolean }> {
  return transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const isChanged = (await updateActivity(ctx, isActive)) === 1;
    if (isChanged) {
      const action = isActive ? 'courier.activated' : 'courier.deactivated';
      const states = { before: { is_active: !isActive }, after: { is_active: isActive } };
      await record(ctx, { action, ...states });
    }
    return { row: await readRecord(ctx), isChanged };
  });
}
