import type { UserCaller } from '../../../platform/identity/callers.js';
import { invalidField } from '../../../platform/errors/errors.js';

/** The courier that a caller means: a courier always itself, staff the one that they name. @throws Fault validation_failed */
export function courierNamed(caller: UserCaller, named: string | undefined): string {
  const courierId = caller.courierId ?? named;
  if (!courierId) throw invalidField('courier_id', 'is required for staff', 'required');
  return courierId;
}
