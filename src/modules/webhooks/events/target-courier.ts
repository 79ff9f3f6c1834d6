import type { UserCaller } from '../../../platform/identity/callers.js';
import { invalidFieldError } from '../../../platform/errors/errors.js';

/**
 * Returns the courier id of a request: a courier's own, or the one that staff have given.
 * @throws ApiError validation_failed
 */
export function targetCourierId(caller: UserCaller, requestedId: string | undefined): string {
  const courierId = caller.courierId ?? requestedId;
  if (!courierId) throw invalidFieldError('courier_id', 'required_for_staff');
  return courierId;
}
