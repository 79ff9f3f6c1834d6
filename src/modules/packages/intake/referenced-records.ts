import type { BodyOf } from '../../../platform/contract/types.js';
import type { Sql } from '../../../platform/db/statements.js';
import { ApiError, fieldError, invalidFieldError } from '../../../platform/errors/errors.js';
import type { UserScope } from '../../../platform/db/scope.js';
import type { Customer, EnteredOwner } from './ownership.js';
import { findNamedRecords, type FoundRecords } from './queries.js';

/** The courier, customer, carrier and warehouse that the body of an intake refers to. */
export type ReferencedRecords = EnteredOwner & { carrierId: string | null; warehouseId: string };

type Body = BodyOf<'receivePackage'>;

/** Selects what the bodies refer to, a row for each, in their order. */
export const findReferences = (ctx: UserScope, bodies: readonly Body[]): Sql<FoundRecords> =>
  findNamedRecords(
    ctx,
    bodies.map((body) => ({
      courierId: body.courier_id,
      carrierId: body.carrier_id,
      warehouseId: body.warehouse_id,
      userCode: body.user_code,
    })),
  );

/**
 * Returns the records that the body refers to, as `findReferences` has found them.
 * @throws ApiError courier_not_found, unknown_user_code, validation_failed, carrier_not_found,
 * warehouse_not_found
 */
export function readReferences(
  { courier_id, carrier_id, user_code }: Body,
  found: FoundRecords | undefined,
): ReferencedRecords {
  const { courierId = null, carrierId = null, warehouseId, customers = [] } = found ?? {};
  if (courier_id !== undefined && !courierId) throw new ApiError('courier_not_found');
  const customer = user_code === undefined ? null : onlyCustomer(customers);
  if (carrier_id !== undefined && !carrierId) throw new ApiError('carrier_not_found');
  if (!warehouseId) throw new ApiError('warehouse_not_found');
  return { courierId: courierId ?? customer?.courierId ?? null, customer, carrierId, warehouseId };
}

function onlyCustomer([customer, another]: Customer[]): Customer {
  if (another) throw invalidFieldError('courier_id', 'required_to_choose');
  if (!customer) throw unknownUserCode('user_code');
  return customer;
}

export const unknownUserCode = (field: string): ApiError =>
  new ApiError('unknown_user_code', { errors: [fieldError(field, 'unknown_user_code')] });
