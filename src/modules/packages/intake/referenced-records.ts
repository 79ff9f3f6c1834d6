import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import type { PlainTx } from '../../../platform/db/statements.js';
import { ApiError, fieldError, invalidFieldError } from '../../../platform/errors/errors.js';
import type { Customer, EnteredOwner } from './ownership.js';
import { findCustomers, findReferencedIds } from './queries.js';

/** The courier, customer, carrier and warehouse that the body of an intake refers to. */
export type ReferencedRecords = EnteredOwner & { carrierId: string | null; warehouseId: string };

/**
 * Looks up the records that the body refers to.
 * @throws ApiError courier_not_found, unknown_user_code, validation_failed, carrier_not_found,
 * warehouse_not_found
 */
export async function findReferencedRecords(
  ctx: UserContext,
  tx: PlainTx,
  intake: BodyOf<'receivePackage'>,
): Promise<ReferencedRecords> {
  const { courier_id, carrier_id, warehouse_id, user_code } = intake;
  const named = { courierId: courier_id, carrierId: carrier_id, warehouseId: warehouse_id };
  const [found] = await tx.query(findReferencedIds(ctx, named));
  const { courierId = null, carrierId = null, warehouseId } = found ?? {};
  if (courier_id !== undefined && !courierId) throw new ApiError('courier_not_found');
  const customer = await findReferencedCustomer(ctx, tx, user_code, courierId);
  if (carrier_id !== undefined && !carrierId) throw new ApiError('carrier_not_found');
  if (!warehouseId) throw new ApiError('warehouse_not_found');
  return { courierId: courierId ?? customer?.courierId ?? null, customer, carrierId, warehouseId };
}

async function findReferencedCustomer(
  ctx: UserContext,
  tx: PlainTx,
  userCode: string | undefined,
  courierId: string | null,
): Promise<Customer | null> {
  if (userCode === undefined) return null;
  const [customer, another] = await tx.query(findCustomers(ctx, userCode, courierId));
  if (another) throw invalidFieldError('courier_id', 'required_to_choose');
  if (!customer)
    throw new ApiError('unknown_user_code', { errors: [fieldError('user_code', 'unknown_user_code')] });
  return customer;
}
