import { once, type Sql } from '../../../platform/db/statements.js';

/** Selects whether a package that the caller cannot see belongs to a courier of the same tenant. */
export function packageHasCourier(id: string): Sql<{ isCouriers: boolean }> {
  return once`select package_has_courier(${id}::uuid) as "isCouriers"`;
}
