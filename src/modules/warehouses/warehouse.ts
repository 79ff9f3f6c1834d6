import { pickColumns } from '../../platform/audit/difference.js';
import { readPage, type Page } from '../../platform/context/read-page.js';
import { auditLater } from '../../platform/audit/audit.js';
import type { UserContext } from '../../platform/context/request-context.js';
import type { BodyOf, QueryOf } from '../../platform/contract/types.js';
import { lock } from '../../platform/db/columns.js';
import { lockWarehouses } from '../../platform/db/locks.js';
import { ApiError } from '../../platform/errors/errors.js';
import { assertUsable, textOr, validateEmail } from '../../platform/values/contact.js';
import { newId } from '../../platform/values/ids.js';
import {
  countOfWarehouses,
  isWarehouseUsed,
  pageOfWarehouses,
  WAREHOUSE_FIELDS,
  type WarehouseFields,
  type WarehouseRow,
} from './queries.js';

/** The fields of a warehouse in a request body. */
type SentFields = Omit<Extract<BodyOf<'manageWarehouses'>, { action: 'update' }>, 'action' | 'warehouse_id'>;

const OPTIONAL = ['address', 'city', 'country', 'phone', 'email'] as const;

export const listWarehouses = (
  ctx: UserContext,
  query: QueryOf<'listWarehouses'>,
): Promise<Page<WarehouseRow>> => readPage(ctx, pageOfWarehouses(ctx, query), countOfWarehouses(ctx));

/** Creates a warehouse. The tenant's first one is primary. @throws ApiError validation_failed, duplicate_warehouse_name */
export async function createWarehouse(
  ctx: UserContext,
  sent: SentFields & { name: string },
): Promise<WarehouseRow> {
  assertAcceptable(sent);
  const fields = merge({ name: sent.name, ...NOTHING }, sent);
  return ctx.write(async (tx) => {
    await tx.query(lockWarehouses(ctx.tenantId));
    const isPrimary = (await tx.models.warehouse.count({ where: { isPrimary: true } })) === 0;
    const data = { ...fields, id: newId(), tenantId: ctx.tenantId, isPrimary };
    const row = await tx.models.warehouse.create({ data, omit: { tenantId: true } });
    const after = { ...pickColumns(fields, CHANGEABLE), is_primary: isPrimary };
    auditLater(tx, 'warehouse.created', row.id, { after });
    return row;
  });
}

/** Changes the given fields that differ. @throws ApiError validation_failed, warehouse_not_found, duplicate_warehouse_name */
export async function updateWarehouse(
  ctx: UserContext,
  id: string,
  sent: SentFields,
): Promise<{ row: WarehouseRow; isChanged: boolean }> {
  assertAcceptable(sent);
  return ctx.write(async (tx) => {
    const stored = await lock(tx, 'Warehouse', id, WAREHOUSE_FIELDS);
    const fields = merge(stored, sent);
    const row = { ...stored, ...fields };
    const changed = CHANGEABLE.filter((name) => row[name] !== stored[name]);
    if (changed.length === 0) return { row, isChanged: false };
    const data = Object.fromEntries(changed.map((name) => [name, row[name]]));
    await tx.models.warehouse.updateMany({ where: { id }, data });
    const [before, after] = [pickColumns(stored, changed), pickColumns(row, changed)];
    auditLater(tx, 'warehouse.updated', id, { before, after });
    return { row, isChanged: true };
  });
}

/** @throws ApiError warehouse_not_found */
export async function makePrimary(
  ctx: UserContext,
  id: string,
): Promise<{ row: WarehouseRow; isChanged: boolean }> {
  return ctx.write(async (tx) => {
    await tx.query(lockWarehouses(ctx.tenantId));
    const row = await lock(tx, 'Warehouse', id, WAREHOUSE_FIELDS);
    if (row.isPrimary) return { row, isChanged: false };
    const { warehouse } = tx.models;
    // In this order, because a unique index allows only one primary warehouse.
    const previous = await warehouse.findFirst({ where: { isPrimary: true }, select: { id: true } });
    await warehouse.updateMany({ where: { isPrimary: true }, data: { isPrimary: false } });
    await warehouse.updateMany({ where: { id }, data: { isPrimary: true } });
    const before = { primary_warehouse_id: previous?.id ?? null };
    auditLater(tx, 'warehouse.made_primary', id, { before, after: { primary_warehouse_id: id } });
    return { row: { ...row, isPrimary: true }, isChanged: true };
  });
}

/** Returns the warehouse as it was. @throws ApiError warehouse_not_found, warehouse_is_primary, warehouse_in_use */
export async function deleteWarehouse(ctx: UserContext, id: string): Promise<WarehouseRow> {
  return ctx.write(async (tx) => {
    await tx.query(lockWarehouses(ctx.tenantId));
    const row = await lock(tx, 'Warehouse', id, WAREHOUSE_FIELDS);
    if (row.isPrimary) throw new ApiError('warehouse_is_primary');
    // A separate statement: it also sees rows that were committed while the lock was awaited.
    const [found] = await tx.query(isWarehouseUsed(ctx, id));
    if (found?.is_used) throw new ApiError('warehouse_in_use');
    await tx.models.warehouse.deleteMany({ where: { id } });
    auditLater(tx, 'warehouse.deleted', id, { before: pickColumns(row, CHANGEABLE) });
    return row;
  });
}

const CHANGEABLE = ['name', ...OPTIONAL, 'loadingGate', 'weightQuestionLb'] as const;

const NOTHING = {
  address: null,
  city: null,
  country: null,
  phone: null,
  email: null,
  loadingGate: false,
  weightQuestionLb: 150,
};

/** Returns the stored fields, overwritten by the sent ones. A blank text clears an optional field. The contract rejects a blank name. */
function merge(stored: WarehouseFields, sent: SentFields): WarehouseFields {
  const { address, city, country, phone, email } = stored;
  const loadingGate = sent.loading_gate ?? stored.loadingGate;
  const weightQuestionLb = sent.weight_question_lb ?? stored.weightQuestionLb;
  const name = sent.name ?? stored.name;
  const merged = { name, address, city, country, phone, email, loadingGate, weightQuestionLb };
  for (const name of OPTIONAL) merged[name] = textOr(stored[name], sent[name]);
  return merged;
}

function assertAcceptable(sent: SentFields): void {
  assertUsable({ email: sent.email ? validateEmail(sent.email) : undefined });
}
