import { UUID } from '../contract/validator.js';
import { invalidFieldError } from '../errors/errors.js';
import type { UserCaller } from '../identity/callers.js';

/**
 * Returns the courier that an upload is for: the caller's own, or the one that staff have given.
 * @throws ApiError validation_failed
 */
export function courierOfUpload(caller: UserCaller, target = ''): string {
  if (caller.courierId) return caller.courierId;
  if (target === '') throw invalidFieldError('target_courier_id', 'required_for_staff');
  if (!UUID.test(target)) throw invalidFieldError('target_courier_id', 'invalid_uuid');
  // The schema accepts any text, because it is ignored for couriers. It is therefore validated here.
  return target.toLowerCase();
}
