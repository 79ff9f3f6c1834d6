import type { Role } from '../../../platform/identity/callers.js';
import { ONE_TIME_PASSWORD_DAYS } from './one-time-password.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import { sql, type PlainTx } from '../../../platform/db/statements.js';

export type NewUser = {
  id: string;
  username: string;
  fullName: string;
  email: string | null;
  role: Role;
  courierId: string | null;
  /** The hash of a one-time password. */
  passwordHash: string;
};

/** Stores a user with a one-time password. Returns when the password expires. */
export async function insertUser({ tenantId }: UserContext, tx: PlainTx, user: NewUser): Promise<Date> {
  const [row] = await tx.query<{ expires: Date }>(sql`insert into users
      (tenant_id, id, username, full_name, email, role, courier_id, password_hash, must_change_password, password_expires_at)
    values (${tenantId}::uuid, ${user.id}::uuid, ${user.username}, ${user.fullName}, ${user.email}, ${user.role},
      ${user.courierId}::uuid, ${user.passwordHash}, true, now() + make_interval(days => ${ONE_TIME_PASSWORD_DAYS}::int))
    returning password_expires_at as expires`);
  if (!row) throw new Error('The user was not stored.');
  return row.expires;
}
