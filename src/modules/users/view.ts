import type { components } from '../../../generated/contract.js';
import { formatDateTime } from '../../platform/values/time.js';
import type { IssuedCredential } from './issued-credential.js';
import type { UserRow } from './queries.js';

export function viewUser(row: UserRow): components['schemas']['ManagedUser'] {
  return {
    user_id: row.id,
    username: row.username,
    full_name: row.fullName,
    email: row.email,
    role: row.role,
    courier_id: row.courierId,
    courier_code: row.courierCode,
    is_active: row.isActive,
    two_factor_enabled: row.twoFactorEnabled,
    must_change_password: row.mustChangePassword,
    password_expires_at: row.passwordExpiresAt && formatDateTime(row.passwordExpiresAt),
    created_at: formatDateTime(row.createdAt),
    updated_at: formatDateTime(row.updatedAt),
  };
}

export const viewIssuedCredential = ({ userId, username, password, expiresAt }: IssuedCredential) => ({
  user_id: userId,
  username,
  one_time_password: password,
  password_expires_at: formatDateTime(expiresAt),
});
