import type { UserCaller } from '../../../platform/identity/callers.js';
import { UUID } from '../../../platform/contract/keywords.js';
import { invalidFieldError } from '../../../platform/errors/errors.js';

/**
 * Returns the courier id of a request: a courier's own, or the one that staff have given.
 * @param field the request's field that names the courier
 * @throws ApiError validation_failed
 */
export function targetCourierId(
  caller: UserCaller,
  requestedId: string | undefined,
  field: 'id' | 'courier_id' = 'courier_id',
): string {
  const courierId = caller.courierId ?? requestedId;
  if (!courierId) throw invalidFieldError(field, 'required_for_staff');
  return courierId;
}

/**
 * Returns the courier that an upload is for. The schema accepts any text, because it is ignored for couriers. So it is validated here.
 * @throws ApiError validation_failed
 */
export function courierOfUpload(caller: UserCaller, target = ''): string {
  if (caller.courierId) return caller.courierId;
  if (target === '') throw invalidFieldError('target_courier_id', 'required_for_staff');
  if (!UUID.test(target)) throw invalidFieldError('target_courier_id', 'invalid_uuid');
  return target.toLowerCase();
}
