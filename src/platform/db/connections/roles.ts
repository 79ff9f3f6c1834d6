import pg from 'pg';
import { readRows, readValue } from './rows.js';

/** The role that the migrations create. It owns no table and cannot bypass row-level security. */
export const APP_ROLE = 'crossdock_app';

const SERVICE_LOGIN = 'crossdock_service';

// An arbitrary key, the same in every process.
const SERVICE_LOGIN_LOCK = 7_203_116;

/**
 * Returns the reason why a connection must not serve requests: its role is a superuser, bypasses row-level security, owns
 * the tables, or is a member of such a role. Returns undefined if the connection may serve.
 */
export async function describeExcessPrivileges(url: string): Promise<string | undefined> {
  return withClient(url, async (client) => {
    const [role] = await readRows<{
      name: string;
      is_super: boolean;
      bypasses: boolean;
      owns: boolean;
      may_become: string | null;
    }>(
      client,
      `select rolname as name, rolsuper as is_super, rolbypassrls as bypasses,
         exists (select from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
           and pg_has_role(session_user, relowner, 'member')) as owns,
         (select min(mighty.rolname) from pg_roles mighty where (mighty.rolsuper or mighty.rolbypassrls)
           and pg_has_role(session_user, mighty.oid, 'member')) as may_become
       from pg_roles where rolname = session_user`,
    );
    if (!role) return 'its role is unknown';
    if (role.is_super) return `the role ${role.name} is a superuser`;
    if (role.bypasses) return `the role ${role.name} bypasses row-level security`;
    if (role.may_become) return `the role ${role.name} may become ${role.may_become}`;
    return role.owns ? `the role ${role.name} owns the tables` : undefined;
  });
}

/**
 * Creates or updates the embedded server's login for serving requests, which has only the application's role. Returns its
 * URL. Processes that share the server may call it concurrently with the same password.
 *
 * @param password not the superuser's, so that it does not give access to the superuser
 */
export async function createServiceLogin(ownerUrl: string, password: string): Promise<string> {
  await withClient(ownerUrl, async (client) => {
    await client.query('begin');
    // Two concurrent ALTER ROLE statements fail with "tuple concurrently updated".
    await client.query('select pg_advisory_xact_lock($1)', [SERVICE_LOGIN_LOCK]);
    const { rowCount } = await client.query('select from pg_roles where rolname = $1', [SERVICE_LOGIN]);
    const verb = rowCount ? 'alter' : 'create';
    await client.query(
      `${verb} role ${SERVICE_LOGIN} login nosuperuser nobypassrls nocreaterole nocreatedb noreplication
       password ${client.escapeLiteral(password)}`,
    );
    await client.query(`grant ${APP_ROLE} to ${SERVICE_LOGIN}`);
    await client.query('commit');
  });
  return serviceUrl(ownerUrl, password);
}

/** Returns the URL of the embedded server's login for serving requests. */
export function serviceUrl(ownerUrl: string, password: string): string {
  const url = new URL(ownerUrl);
  url.username = SERVICE_LOGIN;
  url.password = encodeURIComponent(password);
  return url.href;
}

/** The oldest version of PostgreSQL that the tests run against. */
export const OLDEST_VERSION = 15;

/** Returns the server's major version. */
export const readVersion = (url: string): Promise<number> =>
  withClient(url, (client) => readValue(client, "select current_setting('server_version_num')::int / 10000"));

/**
 * Runs `work` on a new connection and closes it.
 *
 * @param application the name of the connection in pg_stat_activity
 */
export async function withClient<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
  application?: string,
): Promise<Result> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    ...(application ? { application_name: application } : {}),
  });
  // A connection that breaks already fails the query. Without a listener it would also end the process.
  client.on('error', () => undefined);
  await client.connect().catch((cause: unknown) => {
    throw new Error(`Cannot connect to the database: ${reasonOf(cause)}`, { cause });
  });
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Returns an error's message. A host with several addresses causes an AggregateError, whose own message is empty. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join(', ');
  return cause instanceof Error ? cause.message : String(cause);
}
