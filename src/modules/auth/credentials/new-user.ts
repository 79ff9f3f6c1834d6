import type { User } from '../../../platform/db/models/types.js';
import type { Role } from '../../../platform/identity/callers.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { Scope, Tx } from '../../../platform/db/scope.js';
import { randomText } from '../../../platform/values/ids.js';

/** Without characters that look alike when copied by hand: 0 and O, 1, l and I. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const GROUPS = 4;
const GROUP_LENGTH = 4;

/** The lifetime of a one-time password, in days. */
export const ONE_TIME_PASSWORD_DAYS = 7;

/** Returns four groups of four characters, 93 bits. The user must change it at the first login. */
export const newOneTimePassword = (): string =>
  Array.from({ length: GROUPS }, () => randomText(ALPHABET, GROUP_LENGTH)).join('-');

/** `passwordHash` is the hash of a one-time password. */
export type NewUser = Pick<
  User,
  'id' | 'username' | 'fullName' | 'email' | 'courierId' | 'isCourierOwner' | 'passwordHash'
> & { role: Role };

/** Stores a user with a one-time password. Returns when the password expires. */
export async function insertUser(tx: Tx, user: NewUser): Promise<Date> {
  const [row] = await tx.query(insertion(tx, user));
  if (!row) throw new Error('The user was not stored.');
  return row.expiresAt;
}

/** SQL, because the expiry is counted by the database's clock. */
const insertion = ({ tenantId }: Scope, user: NewUser): Sql<{ expiresAt: Date }> =>
  sql`insert into users
      (tenant_id, id, username, full_name, email, role, courier_id, is_courier_owner, password_hash,
      must_change_password, password_expires_at)
    values (${tenantId}::uuid, ${user.id}::uuid, ${user.username}, ${user.fullName}, ${user.email}, ${user.role},
      ${user.courierId}::uuid, ${user.isCourierOwner}, ${user.passwordHash}, true, now() + make_interval(days => ${ONE_TIME_PASSWORD_DAYS}::int))
    returning password_expires_at as "expiresAt"`;
