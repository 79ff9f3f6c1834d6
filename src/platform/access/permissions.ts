import type { Role } from '../identity/callers.js';
import { operations, type OperationId } from '../../../generated/operations.js';

export type Permission = NonNullable<(typeof operations)[OperationId]['permission']>;

const STAFF: readonly Role[] = ['admin', 'manager', 'warehouse'];
const ADMINS: readonly Role[] = ['admin'];
const EVERYBODY: readonly Role[] = [...STAFF, 'courier'];
const MANAGERS: readonly Role[] = ['admin', 'manager'];
const MANAGERS_AND_COURIERS: readonly Role[] = [...MANAGERS, 'courier'];

// A courier holds its permissions for its own account only; which rows that is, scope decides.
const HOLDERS = {
  'prealert:view': EVERYBODY,
  'prealert:edit': EVERYBODY,
  'prealert:review': STAFF,
  'customer:view': EVERYBODY,
  'customer:add': MANAGERS_AND_COURIERS,
  'customer:edit': MANAGERS_AND_COURIERS,
  'package:view': EVERYBODY,
  'package:edit': EVERYBODY,
  'package:receive': STAFF,
  'manifest:create': STAFF,
  'manifest:edit': STAFF,
  'manifest:view': EVERYBODY,
  'billing:view': MANAGERS_AND_COURIERS,
  'billing:manage': MANAGERS,
  'audit:view': ADMINS,
  'webhook:view': MANAGERS_AND_COURIERS,
  'webhook:manage': MANAGERS_AND_COURIERS,
  'courier:manage': MANAGERS,
  'warehouse:view': STAFF,
  'warehouse:manage': MANAGERS,
  'carrier:view': EVERYBODY,
  'carrier:manage': MANAGERS,
  // staff: what courier:manage stands for; a courier: its own settings
  'courier:settings': MANAGERS_AND_COURIERS,
  'user:manage': ADMINS,
  'tenant:manage': ADMINS,
  // about itself alone
  'account:own': EVERYBODY,
} satisfies Record<Permission, readonly Role[]>;

export function holds(role: Role, permission: Permission): boolean {
  return HOLDERS[permission].includes(role);
}
