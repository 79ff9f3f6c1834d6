/** The schemas that the migrations and the queue's library change. */
const SCHEMAS = `('public', 'queue', 'installation', 'graphile_worker')`;

/** The role that owns most tables, null in a new database, and whether the role of the connection has its rights. */
export const READ_TABLES_OWNER = `
  select current_user as role, current_database() as database, pg_get_userbyid(owner.oid)::text as owner,
    coalesce(pg_has_role(current_user, owner.oid, 'usage'), true) as "isOwner"
  from (select mode() within group (order by relowner) as oid from pg_class
    where relnamespace = to_regnamespace('public') and relkind in ('r', 'p')) owner`;

/**
 * What the role $1 lacks to apply migrations: CREATE on the database and on each schema, the tables, and the role of functions.
 * Each role can read the catalogue. A superuser lacks nothing.
 */
export const EXAMINE_OWNER = `with
subject as (select oid, rolname from pg_roles where rolname = $1),
db as (select oid, datname, datdba from pg_database where datname = current_database()),
schemas as (select oid, nspname, nspowner from pg_namespace where nspname in ${SCHEMAS})
select 'database' as kind, datname::text as object, pg_get_userbyid(datdba)::text as owner,
    format('alter database %I owner to %I;', datname, rolname) as statement
  from db, subject where not has_database_privilege(subject.oid, db.oid, 'create')
union all
select 'schema', nspname, pg_get_userbyid(nspowner),
    case when nspowner = (select oid from pg_roles where rolname = 'pg_database_owner')
      then format('alter database %I owner to %I;', datname, rolname) else format('alter schema %I owner to %I;', nspname, rolname) end
  from schemas, db, subject where not has_schema_privilege(subject.oid, schemas.oid, 'create')
union all
select 'table', c.oid::regclass::text, pg_get_userbyid(c.relowner), format('alter table %s owner to %I;', c.oid::regclass, rolname)
  from pg_class c join schemas s on s.oid = c.relnamespace, subject
  where c.relkind in ('r', 'p', 'v', 'm') and not pg_has_role(subject.oid, c.relowner, 'usage')
    and not exists (select from pg_depend e where e.classid = 'pg_class'::regclass and e.objid = c.oid and e.deptype = 'e')
union all
select 'role', g.rolname, null, format('grant %I to %I with admin option;', g.rolname, subject.rolname)
  from pg_roles g, subject where g.rolname = 'crossdock_lookup' and not pg_has_role(subject.oid, g.oid, 'member')
    -- In a new database the first migration creates the role.
    and to_regclass('public.tenants') is not null
order by kind, object`;
