import type { BodyOf } from '../../../platform/contract/types.js';
import type { Sql } from '../../../platform/db/statements.js';
import { ApiError, fieldError, invalidFieldError } from '../../../platform/errors/errors.js';
import type { UserScope } from '../../../platform/db/scope.js';
import type { Customer, EnteredOwner } from './ownership.js';
import { findCustomers, findReferencedIds, type ReferencedIds } from './queries.js';

/** The courier, customer, carrier and warehouse that the body of an intake refers to. */
export type ReferencedRecords = EnteredOwner & { carrierId: string | null; warehouseId: string };

type Body = BodyOf<'receivePackage'>;

export const findNamedIds = (
  ctx: UserScope,
  { courier_id: courierId, carrier_id: carrierId, warehouse_id: warehouseId }: Body,
): Sql<ReferencedIds> => findReferencedIds(ctx, { courierId, carrierId, warehouseId });

/** Selects no customer without a user code in the body. */
export const findNamedCustomers = (ctx: UserScope, { user_code, courier_id }: Body): Sql<Customer> =>
  findCustomers(ctx, user_code ?? null, courier_id ?? null);

/**
 * Returns the records that the body refers to, as the statements above have found them.
 * @throws ApiError courier_not_found, unknown_user_code, validation_failed, carrier_not_found,
 * warehouse_not_found
 */
export function readReferences(
  { courier_id, carrier_id, user_code }: Body,
  ids: ReferencedIds | undefined,
  customers: Customer[],
): ReferencedRecords {
  const { courierId = null, carrierId = null, warehouseId } = ids ?? {};
  if (courier_id !== undefined && !courierId) throw new ApiError('courier_not_found');
  const customer = user_code === undefined ? null : onlyCustomer(customers);
  if (carrier_id !== undefined && !carrierId) throw new ApiError('carrier_not_found');
  if (!warehouseId) throw new ApiError('warehouse_not_found');
  return { courierId: courierId ?? customer?.courierId ?? null, customer, carrierId, warehouseId };
}

function onlyCustomer([customer, another]: Customer[]): Customer {
  if (another) throw invalidFieldError('courier_id', 'required_to_choose');
  if (!customer)
    throw new ApiError('unknown_user_code', { errors: [fieldError('user_code', 'unknown_user_code')] });
  return customer;
}
