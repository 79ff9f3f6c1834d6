import { expect, test } from '@jest/globals';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';

// Tests of operators' commands use copies of a database that was migrated with the roles of the documents.

const OWN = "!~ '^(pg_|information_schema)'";
const rightsIn = (column: string) =>
  `coalesce((select string_agg(each::text, ' ' order by each::text) from unnest(${column}) each), 'default')`;

/** One line per object, with its owner and rights. */
const LINES = `
  select 'relation ' || oid::regclass || ': ' || relowner::regrole || ' ' || ${rightsIn('relacl')} from pg_class
    where relnamespace::regnamespace::text ${OWN}
  union all select 'function ' || oid::regprocedure || ': ' || proowner::regrole || ' ' || ${rightsIn('proacl')} from pg_proc
    where pronamespace::regnamespace::text ${OWN}
  union all select 'type ' || oid::regtype || ': ' || typowner::regrole || ' ' || ${rightsIn('typacl')} from pg_type
    where typnamespace::regnamespace::text ${OWN}
  union all select 'schema ' || nspname || ': ' || nspowner::regrole || ' ' || ${rightsIn('nspacl')} from pg_namespace
    where nspname ${OWN}
  union all select 'extension ' || extname || ': ' || extowner::regrole from pg_extension
  union all select 'policy ' || polname || ' on ' || polrelid::regclass || ': ' || polroles::regrole[]::text from pg_policy
  union all select 'default rights: ' || defaclrole::regrole || ' ' || ${rightsIn('defaclacl')} from pg_default_acl
  union all select 'database: ' || datdba::regrole || ' ' || ${rightsIn('datacl')} from pg_database where datname = current_database()
  union all select 'membership: ' || member::regrole || ' in ' || roleid::regrole || ' by ' || grantor::regrole || ' ' || admin_option
    from pg_auth_members where member::regrole::text like current_database() || '%'
  union all select 'role ' || r.rolname || ': ' || to_jsonb(r) - array['oid', 'rolname', 'rolpassword'] from pg_roles r
    where r.rolname like current_database() || '%'
  union all select 'migration ' || migration_name from _prisma_migrations
  union all select 'tenant ' || slug from tenants
  order by 1`;

const linesOf = ({ name, ownerUrl }: DocumentedDatabase): Promise<string[]> =>
  withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<{ line: string }>(`select line from (${LINES}) as lines (line)`);
    return rows.map(({ line }) => line.replaceAll(name, 'NAME'));
  });

test('a copied database has the owners, rights, policies and roles of one that was migrated with the roles of the documents', async () => {
  const copied = await documentedDatabase({ demo: true });
  const migrated = await documentedDatabase({ demo: true, isCopied: false });
  const lines = await linesOf(copied);
  expect(lines).toEqual(await linesOf(migrated));
  expect(lines).toEqual(
    expect.arrayContaining([
      'policy owner_registers on tenants: {NAME_owner}',
      expect.stringMatching(/^relation tenants: NAME_owner .*crossdock_app=/),
    ]),
  );
  await copied.drop();
  await migrated.drop();
});
