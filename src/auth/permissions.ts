import type { Role } from './callers.js';
import { operations, type OperationId } from '../../generated/operations.js';

export type Permission = NonNullable<(typeof operations)[OperationId]['permission']>;

const STAFF: readonly Role[] = ['admin', 'manager', 'warehouse'];
const EVERYBODY: readonly Role[] = [...STAFF, 'courier'];
const BILLING: readonly Role[] = ['admin', 'manager', 'courier'];

// A courier holds its permissions for its own account only; which rows that is, scope decides.
const HOLDERS = {
  'prealert:view': EVERYBODY,
  'prealert:edit': EVERYBODY,
  'customer:view': EVERYBODY,
  'package:view': EVERYBODY,
  'package:receive': STAFF,
  'manifest:create': STAFF,
  'manifest:edit': STAFF,
  'manifest:view': EVERYBODY,
  'billing:view': BILLING,
} satisfies Record<Permission, readonly Role[]>;

export function holds(role: Role, permission: Permission): boolean {
  return HOLDERS[permission].includes(role);
}
