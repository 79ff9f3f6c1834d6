import type { Role } from '../identity/callers.js';
import { operations, type OperationId } from '../../../generated/operations.js';

export type Permission = NonNullable<(typeof operations)[OperationId]['permission']>;

const STAFF: readonly Role[] = ['admin', 'manager', 'warehouse'];
const ADMINS: readonly Role[] = ['admin'];
const EVERYBODY: readonly Role[] = [...STAFF, 'courier'];
const MANAGERS: readonly Role[] = ['admin', 'manager'];
const MANAGERS_AND_COURIERS: readonly Role[] = [...MANAGERS, 'courier'];

// A courier's permissions apply to its own account only. The row filters in platform/db enforce that.
const ROLES_BY_PERMISSION = {
  'prealert:view': EVERYBODY,
  'prealert:edit': EVERYBODY,
  'prealert:review': STAFF,
  'customer:view': EVERYBODY,
  'customer:add': MANAGERS_AND_COURIERS,
  'customer:edit': MANAGERS_AND_COURIERS,
  'package:view': EVERYBODY,
  'package:edit': EVERYBODY,
  'package:receive': STAFF,
  // Workers of the warehouse: only new receipts.
  'package:void': STAFF,
  'claim:submit': EVERYBODY,
  'claim:view': EVERYBODY,
  'claim:review': STAFF,
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
  // Staff with courier:manage change any courier's settings; a courier changes its own.
  'courier:settings': MANAGERS_AND_COURIERS,
  // Managers and owners of couriers, for the users below them. The database says who is an owner.
  'team:view': MANAGERS_AND_COURIERS,
  'team:manage': MANAGERS_AND_COURIERS,
  'user:manage': ADMINS,
  'tenant:manage': ADMINS,
  // Each user's own account.
  'account:own': EVERYBODY,
} satisfies Record<Permission, readonly Role[]>;

export function hasPermission(role: Role, permission: Permission): boolean {
  return ROLES_BY_PERMISSION[permission].includes(role);
}
