import pg from 'pg';

/** The role that the migrations make; it owns nothing and row-level security binds it. */
export const APP_ROLE = 'crossdock_app';

const SERVICE_LOGIN = 'crossdock_service';

// Any constant will do, as long as every process takes the same one.
const SERVICE_LOGIN_LOCK = 7_203_116;

/**
 * Why a connection must not serve requests: its role is a superuser, bypasses row-level security, or owns our
 * tables, or is a member of a role that does. Undefined when it may.
 */
export async function describeExcessPower(url: string): Promise<string | undefined> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{
      name: string;
      is_super: boolean;
      bypasses: boolean;
      owns: boolean;
      may_become: string | null;
    }>(
      `select rolname as name, rolsuper as is_super, rolbypassrls as bypasses,
         exists (select from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
           and pg_has_role(session_user, relowner, 'member')) as owns,
         (select min(mighty.rolname) from pg_roles mighty where (mighty.rolsuper or mighty.rolbypassrls)
           and pg_has_role(session_user, mighty.oid, 'member')) as may_become
       from pg_roles where rolname = session_user`,
    );
    const [role] = rows;
    if (!role) return 'its role is unknown';
    if (role.is_super) return `the role ${role.name} is a superuser`;
    if (role.bypasses) return `the role ${role.name} bypasses row-level security`;
    if (role.may_become) return `the role ${role.name} may become ${role.may_become}`;
    return role.owns ? `the role ${role.name} owns the tables` : undefined;
  });
}

/**
 * Gives the embedded server a login that can only serve, and returns its URL. Processes that share the server may call
 * it together, with the same password.
 *
 * @param password the login's own: whoever learns it must not be able to log in as the superuser
 */
export async function makeServiceLogin(ownerUrl: string, password: string): Promise<string> {
  await withClient(ownerUrl, async (client) => {
    await client.query('begin');
    // two that alter one role at once get "tuple concurrently updated"
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
  const url = new URL(ownerUrl);
  url.username = SERVICE_LOGIN;
  url.password = encodeURIComponent(password);
  return url.href;
}

/** The server's major version. */
export async function readVersion(url: string): Promise<number> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ version: number }>(
      "select current_setting('server_version_num')::int / 10000 as version",
    );
    return rows[0]?.version ?? 0;
  });
}

/** Runs `work` on a connection of its own. */
export async function withClient<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // a connection that breaks fails the query that waits on it; without a listener it would end the process
  client.on('error', () => undefined);
  await client.connect().catch((cause: unknown) => {
    throw new Error(`The database does not let us in: ${reasonOf(cause)}`, { cause });
  });
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A name with several addresses gives an AggregateError, whose own message is empty. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join(', ');
  return cause instanceof Error ? cause.message : String(cause);
}
