import { randomBytes } from 'node:crypto';
import { withClient } from '../../../platform/db/connections/roles.js';
import { readValue, readValues } from '../../../platform/db/connections/rows.js';
import { isRefusedLogin } from '../../../platform/db/violations.js';
import { readTablesOwner } from '../../../platform/db/owner-check/check-owner.js';
import { ok, warning, type Finding } from '../../shared-checks/finding.js';
import type { Connected } from './subject.js';

/** From this version on, `createrole` gives power only over roles that the role has created itself, or was given with admin option. */
const LIMITED_SINCE = 16;

/**
 * Finds roles that could change the passwords of this deployment's roles: on an older server, every role with `createrole`. Its own owner
 * needs the right for the first migration. Until then no table has an owner, and roles.sql gives it the database.
 */
export async function checkRoles({ client, config }: Pick<Connected, 'client' | 'config'>): Promise<Finding> {
  if (config.appEnv === 'development') return ok('A server of a developer may have any roles.');
  const version = await readValue<number>(
    client,
    "select current_setting('server_version_num')::int / 10000",
  );
  if (version >= LIMITED_SINCE)
    return ok(`In PostgreSQL ${version} a role cannot change the roles of others.`);
  const roles = await readValues<string>(
    client,
    `select rolname from pg_roles where rolcreaterole and not rolsuper
       and rolname <> coalesce($1, (select pg_get_userbyid(datdba) from pg_database where datname = current_database()))
     order by rolname`,
    [await readTablesOwner(client)],
  );
  if (roles.length === 0) return ok('No role of another deployment can change the roles of this one.');
  const statements = roles.map((role) => `alter role ${role} nocreaterole;`).join(' ');
  return warning(
    `In PostgreSQL ${version} these roles can change the passwords of this deployment's roles: ${roles.join(', ')}.`,
    `If they belong to other deployments whose first migration is done, run as a superuser: ${statements} See "The database" in docs/deploy.md.`,
  );
}

/** Whether the server asks for the password of the login. With `trust` in its pg_hba.conf, everybody who reaches it can log in. */
export async function checkPassword({ url }: Pick<Connected, 'url'>): Promise<Finding> {
  const wrong = new URL(url);
  if (wrong.password === '') return ok('The login has no password in DATABASE_URL.');
  wrong.password = randomBytes(16).toString('hex');
  try {
    await withClient(wrong.href, () => Promise.resolve());
  } catch (error) {
    if (isRefusedLogin(error)) return ok('The server refuses the login with a wrong password.');
    throw error;
  }
  return warning(
    'The server accepts the login with any password.',
    'Require scram-sha-256 instead of trust in its pg_hba.conf, and reload it. See "Requirements" in docs/deploy.md.',
  );
}
