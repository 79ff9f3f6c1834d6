import { auditStatement, type AuditFact } from '../../platform/audit/audit.js';
import type { UserCaller } from '../../platform/identity/callers.js';
import { assertUsable, validateLine } from '../../platform/values/contact.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { transaction, snapshot, type Db, type Tx } from '../../platform/db/transaction.js';
import { ApiError } from '../../platform/errors/errors.js';
import { newId } from '../../platform/values/ids.js';
import {
  carrierForUpdate,
  countOfCarriers,
  insertCarrier,
  isCarrierUsed,
  pageOfCarriers,
  removeCarrier,
  updateName,
  type CarrierRow,
} from './queries.js';

/** Who asks for a change. */
export type Change = { db: Db; caller: UserCaller; requestId: string };

export async function listCarriers(
  db: Db,
  caller: UserCaller,
  query: QueryOf<'listCarriers'>,
): Promise<{ rows: CarrierRow[]; total: number }> {
  const [rows, counted] = await snapshot(db, caller, [
    pageOfCarriers(db, caller, query),
    countOfCarriers(db, caller),
  ]);
  // as: the shape that the statement selects
  return { rows: (rows ?? []) as CarrierRow[], total: Number(counted?.[0]?.['total']) };
}

/** @throws ApiError validation_failed, duplicate_carrier_name */
export async function createCarrier(change: Change, name: string): Promise<CarrierRow> {
  assertUsable({ name: validateLine(name) });
  const carrier = { id: newId(), name };
  return transaction(change.db, change.caller, async (tx) => {
    await tx.execute(insertCarrier(change.caller, carrier));
    await record(change, tx, carrier.id, { action: 'carrier.created', after: { name } });
    return carrier;
  });
}

/** The name that it has already changes nothing. @throws ApiError validation_failed, carrier_not_found, duplicate_carrier_name */
export async function renameCarrier(
  change: Change,
  carrier: CarrierRow,
): Promise<{ carrier: CarrierRow; isChanged: boolean }> {
  assertUsable({ name: validateLine(carrier.name) });
  return transaction(change.db, change.caller, async (tx) => {
    const before = await holdCarrier(change, tx, carrier.id);
    if (before.name === carrier.name) return { carrier: before, isChanged: false };
    await tx.execute(updateName(change.db, change.caller, carrier));
    const names = { before: { name: before.name }, after: { name: carrier.name } };
    await record(change, tx, before.id, { action: 'carrier.renamed', ...names });
    return { carrier: { ...before, name: carrier.name }, isChanged: true };
  });
}

/** Answers the carrier as it was. @throws ApiError carrier_not_found, carrier_in_use */
export async function deleteCarrier(change: Change, id: string): Promise<CarrierRow> {
  const { db, caller } = change;
  return transaction(db, caller, async (tx) => {
    const before = await holdCarrier(change, tx, id);
    // asked by a statement of its own: it sees the packages of those who named it before it was held
    const [found] = await tx.query<{ is_used: boolean }>(isCarrierUsed(db, caller, id));
    if (found?.is_used) throw new ApiError('carrier_in_use');
    await tx.execute(removeCarrier(db, caller, id));
    await record(change, tx, id, { action: 'carrier.deleted', before: { name: before.name } });
    return before;
  });
}

async function holdCarrier({ db, caller }: Change, tx: Tx, id: string): Promise<CarrierRow> {
  const [row] = await tx.query<CarrierRow>(carrierForUpdate(db, caller, id));
  if (!row) throw new ApiError('carrier_not_found');
  return row;
}

async function record(
  { caller, requestId }: Change,
  tx: Tx,
  id: string,
  fact: Omit<AuditFact, 'entity' | 'entityId'>,
): Promise<void> {
  await tx.execute(auditStatement(caller, requestId, [{ ...fact, entity: 'carrier', entityId: id }]));
}
