// One statement that lists what a login has beyond what the service needs, and who else may use the database. Each row has a kind, an
// object, a statement that corrects it, and whether staging and production must not serve with it. Each role can read the catalogues.

/** The schemas of the migrations, which src/platform/db/schema-check compares. It compares only the rights of roles, not of the login. */
const COMPARED = `('public', 'queue', 'installation')`;

/** Since PostgreSQL 16, REVOKE removes a membership only if it names the role that granted it. */
const GRANTED_BY = `case when current_setting('server_version_num')::int >= 160000
  then ' granted by ' || quote_ident(pg_get_userbyid(m.grantor)) else '' end`;

export const EXAMINE_LOGIN = `with
app as (select oid, rolname from pg_roles where rolname = 'crossdock_app'),
db as (select oid, datname, datdba, coalesce(datacl, acldefault('d', datdba)) as acl from pg_database where datname = current_database()),
owner as (select mode() within group (order by relowner) as oid from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')),
-- The owner of the tables and the first superuser are reported elsewhere: they cannot be corrected, another login is needed.
login as (select r.* from pg_roles r where rolname = session_user and oid <> 10 and oid is distinct from (select oid from owner)),
direct as (select m.* from pg_auth_members m join login on m.member = login.oid),
database_rights as (select x.grantee, lower(x.privilege_type) as privilege, x.is_grantable from db, aclexplode(db.acl) x),
granted as (
  select d.refobjid as grantee, d.classid, d.objid, i.type, i.schema, i.name, i.identity
  from pg_shdepend d, db, pg_identify_object(d.classid, d.objid, 0) i
  where d.refclassid = 'pg_authid'::regclass and d.deptype = 'a' and d.dbid in (0, db.oid) and d.classid <> 'pg_database'::regclass),
owned as (
  select distinct i.type, i.identity from pg_shdepend d, db, login, pg_identify_object(d.classid, d.objid, 0) i
  where d.refclassid = 'pg_authid'::regclass and d.refobjid = login.oid and d.deptype = 'o'
    and (d.dbid = db.oid or (d.classid = 'pg_database'::regclass and d.objid = db.oid)) and coalesce(i.schema, '') !~ '^pg_(toast_)?temp'),
strangers as (
  select r.rolname from pg_roles r, db
  where r.rolcanlogin and not r.rolsuper and r.rolname <> session_user and r.oid not in (db.datdba, (select oid from owner))
    and exists (select from pg_roles g where g.rolname in ('crossdock_app', 'crossdock_lookup') and pg_has_role(r.oid, g.oid, 'member'))
    and has_database_privilege(r.oid, db.oid, 'connect')
    and exists (select from pg_database other where other.oid <> db.oid and (other.datdba = r.oid
      or exists (select from aclexplode(other.datacl) x where x.grantee = r.oid and x.privilege_type = 'CONNECT'))))

select 'attribute' as kind, a.name as object, format('alter role %I no%s;', rolname, a.name) as statement, true as "isDangerous"
  from login, lateral (values ('superuser', rolsuper), ('bypassrls', rolbypassrls), ('createrole', rolcreaterole),
    ('createdb', rolcreatedb), ('replication', rolreplication)) a (name, is_set) where a.is_set
union all
select 'membership', pg_get_userbyid(m.roleid), case when exists (select from direct, app where direct.roleid = app.oid) then ''
    else format('grant crossdock_app to %I; ', session_user) end
    || format('revoke %I from %I%s;', pg_get_userbyid(m.roleid), session_user, ${GRANTED_BY}), true
  from direct m where m.roleid not in (select oid from app)
union all
select 'admin option', 'crossdock_app', format('revoke admin option for crossdock_app from %I%s;', session_user, ${GRANTED_BY}), true
  from direct m, app where m.roleid = app.oid and m.admin_option
union all
select 'owned', type || ' ' || identity,
    case when type = 'database' then format('alter database %1$s owner to %2$I; grant connect, temporary on database %1$s to %3$I;',
      identity, pg_get_userbyid(owner.oid), session_user)
      else format('reassign owned by %I to %I;', session_user, pg_get_userbyid(owner.oid)) end, true
  from owned, owner
union all
select distinct 'grant', r.rolname || ' has rights on ' || g.type || ' ' || g.identity,
    case when g.type = 'default acl' then format('alter default privileges %s from %I;',
        regexp_replace(g.identity, ' on (\\w+)$', ' revoke all on \\1'), r.rolname)
      else format('revoke all on %s %s from %I;', case
        when g.type in ('table', 'view', 'materialized view', 'foreign table', 'partitioned table') then 'table'
        when g.type in ('function', 'procedure', 'aggregate') then 'routine'
        when g.type = 'parameter ACL' then 'parameter' when g.type = 'server' then 'foreign server'
        when g.type = 'foreign-data wrapper' then 'foreign data wrapper' else g.type end, g.identity, r.rolname) end, true
  from granted g join pg_roles r on r.oid = g.grantee
  where g.identity is not null and (r.rolname = session_user or (r.rolname = 'crossdock_app'
    and coalesce(g.schema, g.name) not in ${COMPARED} and coalesce(g.schema, g.name) <> 'graphile_worker'))
union all
select 'database right', r.rolname || ' has ' || x.privilege || ' on database ' || db.datname
    || case when x.is_grantable then ' with grant option' else '' end,
    format('revoke %s%s on database %I from %I;', case when x.privilege in ('connect', 'temporary') then 'grant option for ' else '' end,
      x.privilege, db.datname, r.rolname), true
  from database_rights x join pg_roles r on r.oid = x.grantee, db
  where r.rolname in (session_user, 'crossdock_app') and r.oid <> db.datdba
    and (x.is_grantable or x.privilege not in ('connect', 'temporary'))
union all
select 'everybody', 'create on database ' || datname, format('revoke create on database %I from public;', datname), true
  from database_rights x, db where x.grantee = 0 and x.privilege = 'create'
union all
select 'everybody', 'rights on parameter ' || parname, format('revoke all on parameter %s from public;', parname), true
  from pg_parameter_acl, aclexplode(paracl) x where x.grantee = 0
union all
select distinct 'everybody', 'execute on function ' || p.oid::regprocedure,
    format('revoke execute on routine %s from public;', p.oid::regprocedure), true
  from pg_proc p join pg_init_privs i on i.classoid = 'pg_proc'::regclass and i.objoid = p.oid, aclexplode(p.proacl) x
  where x.grantee = 0 and not exists (select from aclexplode(i.initprivs) y where y.grantee = 0)
union all
select distinct 'everybody', 'rights on table ' || c.oid::regclass, format('revoke all on table %s from public;', c.oid::regclass), true
  from pg_class c join pg_init_privs i on i.classoid = 'pg_class'::regclass and i.objoid = c.oid and i.objsubid = 0, aclexplode(c.relacl) x
  where x.grantee = 0 and not exists (select from aclexplode(i.initprivs) y where y.grantee = 0)
union all
select 'everybody', 'rights on the schema graphile_worker', 'revoke all on schema graphile_worker from public; '
    || 'revoke all on all tables in schema graphile_worker from public; revoke all on all sequences in schema graphile_worker from public;',
    true
  where exists (
    select from pg_namespace n, aclexplode(n.nspacl) x where n.nspname = 'graphile_worker' and x.grantee = 0
    union all
    select from pg_class c, aclexplode(c.relacl) x where c.relnamespace = to_regnamespace('graphile_worker') and x.grantee = 0
    union all
    select from pg_attribute a join pg_class c on c.oid = a.attrelid, aclexplode(a.attacl) x
    where c.relnamespace = to_regnamespace('graphile_worker') and x.grantee = 0)
union all
select 'stranger', s.rolname, case when exists (select from database_rights x join pg_roles r on r.oid = x.grantee
      where r.rolname = s.rolname and x.privilege = 'connect')
    then format('revoke connect on database %I from %I;', datname, s.rolname)
    else format('grant connect on database %1$I to %2$I; revoke connect on database %1$I from public;', datname, session_user) end, true
  from strangers s, db
union all
select 'public connect', datname,
    format('grant connect on database %1$I to %2$I; revoke connect on database %1$I from public;', datname, session_user), false
  from database_rights x, db where x.grantee = 0 and x.privilege = 'connect' and not exists (select from strangers)`;

/** The settings that PostgreSQL gives to a new connection of the login: for the role, the database, both or every role. */
export const READ_SETTINGS = `
  select split_part(entry, '=', 1) as name, substr(entry, strpos(entry, '=') + 1) as value,
    case when s.setrole = 0 and s.setdatabase = 0 then 'alter role all'
      when s.setrole = 0 then format('alter database %I', current_database())
      when s.setdatabase = 0 then format('alter role %I', session_user)
      else format('alter role %I in database %I', session_user, current_database()) end || ' reset '
      || quote_ident(split_part(entry, '=', 1)) || ';' as statement,
    -- The setting with the highest rank applies.
    case when s.setrole <> 0 then 2 else 0 end + case when s.setdatabase <> 0 then 1 else 0 end as rank
  from pg_db_role_setting s, unnest(s.setconfig) as entry
  where s.setrole in (0, (select oid from pg_roles where rolname = session_user))
    and s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
  order by name, statement`;

/** What applies to this connection. The first schemas are searched first. */
export const READ_EFFECTIVE = `
  select array(select name from unnest(current_schemas(true)) with ordinality as schema (name, place)
      where name !~ '^pg_temp' order by place)::text[] as search_path,
    current_setting('session_replication_role') as session_replication_role, current_setting('row_security') as row_security,
    current_setting('role') as role, format('alter role %I in database %I set ', session_user, current_database()) as prefix`;
