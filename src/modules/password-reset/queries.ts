import { tenantRows } from '../../platform/db/filters.js';
import type { PasswordReset, User } from '../../platform/db/models/types.js';
import { sql, type RowOf, type Sql } from '../../platform/db/statements.js';
import type { SystemScope } from '../../platform/db/scope.js';
import { columns } from '../../platform/db/columns.js';

const RECIPIENT = columns('User', 'u', ['id', 'email', 'tokenVersion']);
const RESET = columns('PasswordReset', 'r', { resetId: 'id' });
const ACCOUNT = columns('User', 'u', { userId: 'id', username: 'username', fullName: 'fullName' });

/** Stores a request, dated by the database's clock. Only the worker looks the user up. */
export const insertRequest = ({ tenantId }: SystemScope, id: string, username: string): Sql => sql`
  insert into password_resets (tenant_id, id, username)
  values (${tenantId}::uuid, ${id}::uuid, lower(${username}))`;

export type RequestRow = Pick<PasswordReset, 'username'> & { isStale: boolean };

/** Selects and locks a request that is not yet processed, so that only one worker processes it. */
export const lockRequest = (ctx: SystemScope, id: string): Sql<RequestRow> => sql`
  select r.username, r.requested_at < now() - interval '30 minutes' as "isStale" from password_resets r
  where ${tenantRows(ctx, 'r')} and r.id = ${id}::uuid and r.token_hash is null for update`;

export type RecipientRow = RowOf<typeof RECIPIENT> & { email: string };

/** Locks the user with this name, so that two concurrent requests leave one token. */
export const lockNamedUser = (ctx: SystemScope, username: string): Sql => sql`
  select u.id from users u where ${tenantRows(ctx, 'u')} and u.username = ${username} for no key update`;

/**
 * Selects the user with this name if it is enabled and has an e-mail address. Not in the statement that locks the user: if that one
 * waits, it still sees the user's courier as it was before.
 */
export const findRecipient = (ctx: SystemScope, username: string): Sql<RecipientRow> => sql`
  select ${RECIPIENT} from users u
  left join couriers c on c.tenant_id = u.tenant_id and c.id = u.courier_id
  where ${tenantRows(ctx, 'u')} and u.username = ${username} and u.email is not null
    and u.is_active and (u.courier_id is null or c.is_active is true)`;

/** Stores the token of a request. It is valid for 30 minutes and only while the account is unchanged. */
export const storeToken = (
  ctx: SystemScope,
  id: string,
  { id: userId, email, tokenVersion }: RecipientRow,
  tokenHash: string,
): Sql => sql`
  update password_resets r set user_id = ${userId}::uuid, token_hash = ${tokenHash}, token_version = ${tokenVersion}::int,
    recipient = ${email}, expires_at = now() + interval '30 minutes'
  where ${tenantRows(ctx, 'r')} and r.id = ${id}::uuid`;

export type TokenRow = Pick<User, 'username' | 'fullName'> & { resetId: string; userId: string };

/** Selects the reset of an unused, unexpired token whose account is unchanged since the token was created. */
export const findToken = (ctx: SystemScope, tokenHash: string): Sql<TokenRow> => sql`
  select ${RESET}, ${ACCOUNT}
  from ${validTokens(ctx)} and r.token_hash = ${tokenHash}`;

/** As findToken, and locks both rows until the end of the transaction. */
export const lockToken = (ctx: SystemScope, tokenHash: string): Sql<TokenRow> =>
  sql`${findToken(ctx, tokenHash)} for update of r, u`;

const validTokens = (ctx: SystemScope): Sql => sql`
  password_resets r
  join users u on u.tenant_id = r.tenant_id and u.id = r.user_id and u.token_version = r.token_version
    and u.email = r.recipient and u.is_active
  where ${tenantRows(ctx, 'r')} and r.consumed_at is null and r.expires_at > now()
    and (u.courier_id is null or exists (select from couriers c
      where c.tenant_id = u.tenant_id and c.id = u.courier_id and c.is_active))`;

/** Updates no row if the token was used in the meantime. */
export const consumeToken = (ctx: SystemScope, resetId: string): Sql => sql`
  update password_resets r set consumed_at = now()
  where ${tenantRows(ctx, 'r')} and r.id = ${resetId}::uuid and r.consumed_at is null and r.expires_at > now()`;

/** Revokes all tokens of the user and thereby its sessions. The second factor is not changed. */
export const setPassword = (ctx: SystemScope, userId: string, hash: string): Sql => sql`
  update users u set password_hash = ${hash}, must_change_password = false, password_expires_at = null,
    token_version = u.token_version + 1, updated_at = now()
  where ${tenantRows(ctx, 'u')} and u.id = ${userId}::uuid`;
