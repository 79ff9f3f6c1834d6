import { once, type Sql } from '../../../platform/db/statements.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { UserCaller } from '../../../platform/identity/callers.js';

/** Selects whether a package that the caller cannot see belongs to a courier of the same tenant. */
export function packageHasCourier(id: string): Sql<{ isCouriers: boolean }> {
  return once`select package_has_courier(${id}::uuid) as "isCouriers"`;
}

/**
 * Returns the error for a package that the caller cannot see. `isCouriers`: it belongs to a courier of the
 * same tenant.
 */
export const hiddenPackageError = ({ courierId }: UserCaller, isCouriers: boolean): ApiError =>
  new ApiError(courierId !== null && isCouriers ? 'record_forbidden' : 'package_not_found');
