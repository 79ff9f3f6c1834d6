import type { Caller, SystemCaller } from '../../platform/identity/callers.js';
import { tenantRows } from '../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../platform/db/transaction.js';

/** Stores a request. Only the worker looks the user up. */
export const insertRequest = ({ tenantId }: Caller, id: string, username: string): Sql => sql`
  insert into password_resets (tenant_id, id, username)
  values (${tenantId}::uuid, ${id}::uuid, lower(${username}))`;

export type RequestRow = { username: string; is_stale: boolean };

/** Selects and locks a request that is not yet processed, so that only one worker processes it. */
export const lockRequest = (db: Db, caller: SystemCaller, id: string): Sql => sql`
  select r.username, r.requested_at < now() - interval '30 minutes' as is_stale from password_resets r
  where ${tenantRows(db, caller, 'r')} and r.id = ${id}::uuid and r.token_hash is null for update`;

export const deleteRequest = (db: Db, caller: SystemCaller, id: string): Sql => sql`
  delete from password_resets r where ${tenantRows(db, caller, 'r')} and r.id = ${id}::uuid`;

export type RecipientRow = { id: string; email: string; token_version: number };

/**
 * Selects and locks the enabled user with this name and an e-mail address, so that two concurrent requests
 * leave one token.
 */
export const lockRecipient = (db: Db, caller: SystemCaller, username: string): Sql => sql`
  select u.id, u.email, u.token_version from users u
  left join couriers c on c.tenant_id = u.tenant_id and c.id = u.courier_id
  where ${tenantRows(db, caller, 'u')} and u.username = ${username} and u.email is not null
    and u.is_active and (u.courier_id is null or c.is_active is true)
  for no key update of u`;

/** Invalidates older tokens of the user. */
export const deleteOlderRequests = (db: Db, caller: SystemCaller, userId: string, id: string): Sql => sql`
  delete from password_resets r
  where ${tenantRows(db, caller, 'r')} and r.user_id = ${userId}::uuid and r.id <> ${id}::uuid`;

/** Stores the token of a request. It is valid for 30 minutes and only while the account is unchanged. */
export const storeToken = (
  db: Db,
  caller: SystemCaller,
  id: string,
  { id: userId, email, token_version: version }: RecipientRow,
  tokenHash: string,
): Sql => sql`
  update password_resets r set user_id = ${userId}::uuid, token_hash = ${tokenHash}, token_version = ${version}::int,
    recipient = ${email}, expires_at = now() + interval '30 minutes'
  where ${tenantRows(db, caller, 'r')} and r.id = ${id}::uuid`;

export type TokenRow = { reset_id: string; user_id: string; username: string; full_name: string };

/** Selects the reset of an unused, unexpired token whose account is unchanged since the token was created. */
export const findToken = (db: Db, caller: SystemCaller, tokenHash: string): Sql => sql`
  select r.id as reset_id, u.id as user_id, u.username, u.full_name
  from ${validTokens(db, caller)} and r.token_hash = ${tokenHash}`;

/** As findToken, and locks both rows until the end of the transaction. */
export const lockToken = (db: Db, caller: SystemCaller, tokenHash: string): Sql =>
  sql`${findToken(db, caller, tokenHash)} for update of r, u`;

const validTokens = (db: Db, caller: SystemCaller): Sql => sql`
  password_resets r
  join users u on u.tenant_id = r.tenant_id and u.id = r.user_id and u.token_version = r.token_version
    and u.email = r.recipient and u.is_active
  where ${tenantRows(db, caller, 'r')} and r.consumed_at is null and r.expires_at > now()
    and (u.courier_id is null or exists (select from couriers c
      where c.tenant_id = u.tenant_id and c.id = u.courier_id and c.is_active))`;

/** Updates no row if the token was used in the meantime. */
export const consumeToken = (db: Db, caller: SystemCaller, resetId: string): Sql => sql`
  update password_resets r set consumed_at = now()
  where ${tenantRows(db, caller, 'r')} and r.id = ${resetId}::uuid and r.consumed_at is null and r.expires_at > now()`;

/** Revokes all tokens of the user and thereby its sessions. The second factor is not changed. */
export const setPassword = (db: Db, caller: SystemCaller, userId: string, hash: string): Sql => sql`
  update users u set password_hash = ${hash}, must_change_password = false, password_expires_at = null,
    token_version = u.token_version + 1, updated_at = now()
  where ${tenantRows(db, caller, 'u')} and u.id = ${userId}::uuid`;

export const deletePreauthTokens = (db: Db, caller: SystemCaller, userId: string): Sql => sql`
  delete from preauth_tokens p where ${tenantRows(db, caller, 'p')} and p.user_id = ${userId}::uuid`;
