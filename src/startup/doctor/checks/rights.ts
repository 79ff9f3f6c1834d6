import type pg from 'pg';
import { APP_ROLE, describeExcessPrivileges } from '../../../platform/db/connections/roles.js';
import { readValues } from '../../../platform/db/connections/rows.js';
import { checkLogin } from '../../../platform/db/login-check/check-login.js';
import { orOk, problem, type Finding } from '../../shared-checks/finding.js';
import type { Connected } from './subject.js';
import { commandLine } from '../../../config/commands.js';

/** The schema of the queue's library. The migrations make the others, which src/platform/db/schema-check/check-schema.ts compares. */
const SCHEMAS = ['graphile_worker'];

/** Examines the login and the role of the application: what they must be able to do, and what they must not. */
export async function checkRights({
  client,
  config,
  url,
}: Pick<Connected, 'client' | 'config' | 'url'>): Promise<Finding[]> {
  const { rows } = await client.query(`select from pg_roles where rolname = '${APP_ROLE}'`);
  if (rows.length === 0)
    return [
      problem(
        `The role ${APP_ROLE} does not exist.`,
        `Run ${commandLine('migrate')} with DATABASE_OWNER_URL.`,
      ),
    ];
  const findings = [...(await findMissing(client)), ...(await findExcess(client))];
  const excess = await describeExcessPrivileges(url);
  // A server of a developer serves one deployment, and PostgreSQL lets everybody connect.
  const isDevelopment = config.appEnv === 'development';
  if (excess && isDevelopment)
    return orOk(findings, `In development the service switches to ${APP_ROLE}, because ${excess}.`);
  const faults = (await checkLogin(client)).filter(({ isDangerous }) => isDangerous || !isDevelopment);
  return orOk(
    [
      ...findings,
      ...faults.map(({ message, remedy }) => problem(message, remedy)),
      excess !== undefined &&
        problem(
          `The login of DATABASE_URL could bypass row-level security: ${excess}.`,
          `Create a login that owns nothing and run grant ${APP_ROLE} to it. Use it in DATABASE_URL.`,
        ),
    ],
    'The login has the rights that it needs, and no others.',
  );
}

async function findMissing(client: pg.Client): Promise<Finding[]> {
  const strangers = await readValues<string>(
    client,
    `select session_user where not pg_has_role(session_user, '${APP_ROLE}', 'usage')`,
  );
  const unreadable = await readValues<string>(
    client,
    `select n.nspname || '.' || t.relname as name from pg_class t join pg_namespace n on n.oid = t.relnamespace
     where n.nspname = any($1) and t.relkind in ('r', 'p') and not (has_schema_privilege('${APP_ROLE}', n.oid, 'usage')
       and has_table_privilege('${APP_ROLE}', t.oid, 'select')) order by name`,
    [SCHEMAS],
  );
  return [
    ...strangers.map((login) =>
      problem(`The login ${login} lacks the role ${APP_ROLE}.`, `Run grant ${APP_ROLE} to ${login}.`),
    ),
    ...unreadable.map((name) =>
      problem(
        `The role ${APP_ROLE} has no access to ${name}.`,
        `Run ${commandLine('migrate')} with DATABASE_OWNER_URL, which grants it again.`,
      ),
    ),
  ];
}

/** A statement that returns the rights on the queue that the application must not have, and the statements that revoke them. */
const EXCESS = `
  select 'create in the schema ' || nspname as excess,
    format('revoke create on schema %I from ${APP_ROLE};', nspname) as statement
  from pg_namespace where nspname = any($1) and has_schema_privilege('${APP_ROLE}', oid, 'create')
  union all
  select right_name || ' on ' || t.relname, format('revoke %s on %s from ${APP_ROLE};', right_name, t.oid::regclass)
  from pg_class t join pg_namespace n on n.oid = t.relnamespace
  cross join unnest(array['insert', 'update', 'delete', 'truncate', 'trigger', 'references']) as right_name
  where n.nspname = any($1) and t.relkind in ('r', 'p') and has_table_privilege('${APP_ROLE}', t.oid, right_name)
    and (right_name in ('truncate', 'trigger', 'references') or t.relname = 'migrations')`;

async function findExcess(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{ excess: string; statement: string }>(EXCESS, [SCHEMAS]);
  return rows.map(({ excess, statement }) =>
    problem(`The role ${APP_ROLE} has too many rights: ${excess}.`, `Run as the owner: ${statement}`),
  );
}
