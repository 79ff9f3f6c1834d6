import { auditStatement, type AuditFact } from '../../platform/audit/audit.js';
import type { UserCaller } from '../../platform/identity/callers.js';
import { assertUsable, validateEmail, validateLine, textOrNull } from '../../platform/values/contact.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { lockWarehouses } from '../../platform/db/locks.js';
import { transaction, snapshot, type Db, type Tx } from '../../platform/db/transaction.js';
import { ApiError } from '../../platform/errors/errors.js';
import { newId } from '../../platform/values/ids.js';
import {
  countOfWarehouses,
  insertWarehouse,
  isWarehouseUsed,
  moveMark,
  pageOfWarehouses,
  removeWarehouse,
  updateFields,
  warehouseForUpdate,
  type WarehouseFields,
  type WarehouseRow,
} from './queries.js';

/** Who asks for a change. */
export type Change = { db: Db; caller: UserCaller; requestId: string };

/** What a body may hold of a warehouse. */
export type SentFields = { [Name in keyof WarehouseFields]?: string };

const OPTIONAL = ['address', 'city', 'country', 'phone', 'email'] as const;

export async function listWarehouses(
  db: Db,
  caller: UserCaller,
  query: QueryOf<'listWarehouses'>,
): Promise<{ rows: WarehouseRow[]; total: number }> {
  const [rows, counted] = await snapshot(db, caller, [
    pageOfWarehouses(db, caller, query),
    countOfWarehouses(db, caller),
  ]);
  // as: the shape that the statement selects
  return { rows: (rows ?? []) as WarehouseRow[], total: Number(counted?.[0]?.['total']) };
}

/** The first that a tenant makes is primary. @throws ApiError validation_failed, duplicate_warehouse_name */
export async function createWarehouse(
  change: Change,
  sent: SentFields & { name: string },
): Promise<WarehouseRow> {
  assertAcceptable(sent);
  const { db, caller } = change;
  const fields = merge({ name: sent.name, ...NOTHING }, sent);
  return transaction(db, caller, async (tx) => {
    await tx.query(lockWarehouses(caller.tenantId));
    const [row] = await tx.query<WarehouseRow>(insertWarehouse(db, caller, newId(), fields));
    if (!row) throw new Error('The warehouse was not stored.');
    const after = { ...fields, is_primary: row.is_primary };
    await record(change, tx, row.id, { action: 'warehouse.created', after });
    return row;
  });
}

/** Changes what is sent and differs. @throws ApiError validation_failed, warehouse_not_found, duplicate_warehouse_name */
export async function updateWarehouse(
  change: Change,
  id: string,
  sent: SentFields,
): Promise<{ row: WarehouseRow; isChanged: boolean }> {
  assertAcceptable(sent);
  const { db, caller } = change;
  return transaction(db, caller, async (tx) => {
    const before = await holdWarehouse(change, tx, id);
    const row = { ...before, ...merge(before, sent) };
    const changed = (['name', ...OPTIONAL] as const).filter((name) => row[name] !== before[name]);
    if (changed.length === 0) return { row, isChanged: false };
    await tx.execute(updateFields(db, caller, id, row));
    const pick = (from: WarehouseRow) => Object.fromEntries(changed.map((name) => [name, from[name]]));
    await record(change, tx, id, { action: 'warehouse.updated', before: pick(before), after: pick(row) });
    return { row, isChanged: true };
  });
}

/** @throws ApiError warehouse_not_found */
export async function makePrimary(
  change: Change,
  id: string,
): Promise<{ row: WarehouseRow; isChanged: boolean }> {
  const { db, caller } = change;
  return transaction(db, caller, async (tx) => {
    await tx.query(lockWarehouses(caller.tenantId));
    const row = await holdWarehouse(change, tx, id);
    if (row.is_primary) return { row, isChanged: false };
    const [moved] = await tx.query<{ previous_id: string | null }>(moveMark(db, caller, id));
    const before = { primary_warehouse_id: moved?.previous_id };
    const after = { primary_warehouse_id: id };
    await record(change, tx, id, { action: 'warehouse.made_primary', before, after });
    return { row: { ...row, is_primary: true }, isChanged: true };
  });
}

/** Answers the warehouse as it was. @throws ApiError warehouse_not_found, warehouse_is_primary, warehouse_in_use */
export async function deleteWarehouse(change: Change, id: string): Promise<WarehouseRow> {
  const { db, caller } = change;
  return transaction(db, caller, async (tx) => {
    await tx.query(lockWarehouses(caller.tenantId));
    const row = await holdWarehouse(change, tx, id);
    if (row.is_primary) throw new ApiError('warehouse_is_primary');
    // asked by a statement of its own: it sees what named the warehouse before it was held
    const [found] = await tx.query<{ is_used: boolean }>(isWarehouseUsed(db, caller, id));
    if (found?.is_used) throw new ApiError('warehouse_in_use');
    await tx.execute(removeWarehouse(db, caller, id));
    const { name, address, city, country, phone, email } = row;
    const before = { name, address, city, country, phone, email };
    await record(change, tx, id, { action: 'warehouse.deleted', before });
    return row;
  });
}

const NOTHING = { address: null, city: null, country: null, phone: null, email: null };

/** The fields with what was sent in their place; blank text clears one. The contract has refused a blank name. */
function merge(stored: WarehouseFields, sent: SentFields): WarehouseFields {
  const merged: WarehouseFields = { ...stored, name: sent.name ?? stored.name };
  for (const name of OPTIONAL) if (sent[name] !== undefined) merged[name] = textOrNull(sent[name]);
  return merged;
}

function assertAcceptable(sent: SentFields): void {
  const faultOf = (name: keyof WarehouseFields) => {
    const text = sent[name] ?? '';
    const fault = validateLine(text);
    return fault ?? (name === 'email' && text.trim() !== '' ? validateEmail(text) : undefined);
  };
  assertUsable(Object.fromEntries((['name', ...OPTIONAL] as const).map((name) => [name, faultOf(name)])));
}

async function holdWarehouse({ db, caller }: Change, tx: Tx, id: string): Promise<WarehouseRow> {
  const [row] = await tx.query<WarehouseRow>(warehouseForUpdate(db, caller, id));
  if (!row) throw new ApiError('warehouse_not_found');
  return row;
}

async function record(
  { caller, requestId }: Change,
  tx: Tx,
  id: string,
  fact: Omit<AuditFact, 'entity' | 'entityId'>,
): Promise<void> {
  await tx.execute(auditStatement(caller, requestId, [{ ...fact, entity: 'warehouse', entityId: id }]));
}
