import type pg from 'pg';
import { newOneTimePassword, ONE_TIME_PASSWORD_DAYS, openPasswords } from '../auth/public.js';
import { enterTenant } from './tenant.js';
import { newId } from '../../platform/values/ids.js';

/**
 * Gives an administrator a new one-time password, and turns off the second factor: the way back for a tenant whose only administrator has
 * lost either. All sessions of the user end. Returns the password, which is stored only as a hash.
 *
 * @param client connected as the owner of the schema
 * @throws Error with one line if there is no such active administrator
 */
export async function resetAdmin(
  client: pg.ClientBase,
  { slug, username }: { slug: string; username: string },
  { passwordHashCost }: { passwordHashCost: number },
): Promise<string> {
  const password = newOneTimePassword();
  const hash = await openPasswords(passwordHashCost).hash(password);
  const { rows } = await client.query<{ id: string }>('select id from tenants where slug = $1', [slug]);
  const [tenant] = rows;
  if (!tenant) throw new Error(`There is no tenant with the slug ${slug} in this database.`);
  await client.query('begin');
  try {
    await enterTenant(client, tenant.id);
    const userId = await replaceCredentials(client, tenant.id, username, hash);
    if (!userId) throw new Error(await describeAdmins(client, { id: tenant.id, slug }, username));
    await recordReset(client, tenant.id, userId);
    await client.query('commit');
    return password;
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

async function replaceCredentials(
  client: pg.ClientBase,
  tenantId: string,
  username: string,
  hash: string,
): Promise<string | undefined> {
  const { rows } = await client.query<{ id: string }>(
    `with changed as (
       update users set password_hash = $3, must_change_password = true,
         password_expires_at = now() + make_interval(days => $4), two_factor_enabled = false, totp_secret = null,
         totp_last_step = null, totp_pending_secret = null, totp_pending_expires_at = null,
         token_version = token_version + 1, updated_at = now()
       where tenant_id = $1 and username = lower($2) and role = 'admin' and is_active returning id
     ), codes as (delete from backup_codes where tenant_id = $1 and user_id in (select id from changed)),
     preauth as (delete from preauth_tokens where tenant_id = $1 and user_id in (select id from changed)),
     throttles as (
       delete from login_throttles using changed
       where tenant_id = $1 and (subject = changed.id::text or (kind = 'password' and subject = lower($2)))
     )
     select id from changed`,
    [tenantId, username, hash, ONE_TIME_PASSWORD_DAYS],
  );
  return rows[0]?.id;
}

async function describeAdmins(
  client: pg.ClientBase,
  { id, slug }: { id: string; slug: string },
  username: string,
): Promise<string> {
  const { rows } = await client.query<{ username: string }>(
    "select username from users where tenant_id = $1 and role = 'admin' and is_active order by username",
    [id],
  );
  const names = rows.map((each) => each.username).join(', ');
  return `The tenant ${slug} has no active administrator ${username}. Its active administrators: ${names}.`;
}

const recordReset = (client: pg.ClientBase, tenantId: string, userId: string) =>
  client.query(
    `insert into audit_entries (tenant_id, id, actor_kind, action, entity, entity_id, after, request_id)
     values ($1, $2, 'system', 'user.password_reset', 'user', $3, $4, 'admin:reset')`,
    [tenantId, newId(), userId, JSON.stringify({ must_change_password: true, two_factor_enabled: false })],
  );
