import type { components } from '../../../generated/contract.js';
import { formatDateTime } from '../../platform/values/time.js';
import type { IssuedCredential } from './issued-credential.js';
import type { UserRow } from './queries.js';

export function viewUser(row: UserRow): components['schemas']['ManagedUser'] {
  return {
    user_id: row.id,
    username: row.username,
    full_name: row.full_name,
    email: row.email,
    role: row.role,
    courier_id: row.courier_id,
    courier_code: row.courier_code,
    is_active: row.is_active,
    two_factor_enabled: row.two_factor_enabled,
    must_change_password: row.must_change_password,
    password_expires_at: row.password_expires_at && formatDateTime(row.password_expires_at),
    created_at: formatDateTime(row.created_at),
    updated_at: formatDateTime(row.updated_at),
  };
}

export const viewIssuedCredential = ({ userId, username, password, expiresAt }: IssuedCredential) => ({
  user_id: userId,
  username,
  one_time_password: password,
  password_expires_at: formatDateTime(expiresAt),
});
