import type { UserCaller } from '../../../platform/identity/callers.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import type { Db, Tx } from '../../../platform/db/transaction.js';
import { ApiError, fieldError, invalidFieldError } from '../../../platform/errors/errors.js';
import { findCustomers, findReferencedIds, type CustomerRow, type ReferencedIdsRow } from './queries.js';
import type { Customer, EnteredOwner } from './ownership.js';

/** The courier, customer, carrier and warehouse that the body of an intake refers to. */
export type ReferencedRecords = EnteredOwner & { carrierId: string | null; warehouseId: string };

type Intake = BodyOf<'receivePackage'>;

/**
 * Looks up the records that the body refers to.
 * @throws ApiError courier_not_found, unknown_user_code, validation_failed, carrier_not_found,
 * warehouse_not_found
 */
export async function findReferencedRecords(
  db: Db,
  tx: Tx,
  caller: UserCaller,
  intake: Intake,
): Promise<ReferencedRecords> {
  const [found] = await tx.query<ReferencedIdsRow>(
    findReferencedIds(db, caller, {
      courierId: intake.courier_id,
      carrierId: intake.carrier_id,
      warehouseId: intake.warehouse_id,
    }),
  );
  const {
    courier_id: courierId = null,
    carrier_id: carrierId = null,
    warehouse_id: warehouseId,
  } = found ?? {};
  if (intake.courier_id !== undefined && !courierId) throw new ApiError('courier_not_found');
  const customer = await findReferencedCustomer(db, tx, caller, intake.user_code, courierId);
  if (intake.carrier_id !== undefined && !carrierId) throw new ApiError('carrier_not_found');
  if (!warehouseId) throw new ApiError('warehouse_not_found');
  return { courierId: courierId ?? customer?.courierId ?? null, customer, carrierId, warehouseId };
}

async function findReferencedCustomer(
  db: Db,
  tx: Tx,
  caller: UserCaller,
  userCode: string | undefined,
  courierId: string | null,
): Promise<Customer | null> {
  if (userCode === undefined) return null;
  const [row, another] = await tx.query<CustomerRow>(findCustomers(db, caller, userCode, courierId));
  if (another) throw invalidFieldError('courier_id', 'required_to_choose');
  if (!row)
    throw new ApiError('unknown_user_code', { errors: [fieldError('user_code', 'unknown_user_code')] });
  return {
    courierId: row.courier_id,
    userCode: row.user_code,
    firstName: row.first_name,
    lastName: row.last_name,
  };
}
