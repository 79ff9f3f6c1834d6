import type { UserCaller } from '../../../platform/identity/callers.js';
import { invalidFieldError } from '../../../platform/errors/errors.js';

/** The courier that a caller means: a courier always itself, staff the one that they name. @throws ApiError validation_failed */
export function courierNamed(caller: UserCaller, named: string | undefined): string {
  const courierId = caller.courierId ?? named;
  if (!courierId) throw invalidFieldError('courier_id', 'required_for_staff');
  return courierId;
}
