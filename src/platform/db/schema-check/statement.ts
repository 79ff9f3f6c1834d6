// One statement that describes what protects the rows: a line per object and property. Its text does not depend on the version of
// PostgreSQL (15 and 18 were compared), the name of the owner or the order of creation. The owner of another deployment's database is a
// member of crossdock_lookup too. src/platform/db/login-check examines whether it may connect, and the login itself.

/** The schemas that the migrations make. The queue's library makes another one itself. */
const SCHEMAS = `('public', 'queue', 'installation')`;

/** The fence of a tenant that is being moved (src/platform/db/tenant-move/fence.ts). It exists only meanwhile. */
const FENCE = '^cell_fence_[0-9a-f]{32}_[wd]$';

export const DESCRIBE = `with
schemas as (select oid, nspname::text as name, nspacl, nspowner from pg_namespace where nspname in ${SCHEMAS}),
extension_objects as (select classid, objid from pg_depend where deptype = 'e'),
relations as (
  select c.*, s.name || '.' || c.relname as name from pg_class c join schemas s on s.oid = c.relnamespace
  where not exists (select from extension_objects e where e.classid = 'pg_class'::regclass and e.objid = c.oid)),
tables as (select * from relations where relkind in ('r', 'p')),
functions as (
  select p.*, s.name || '.' || p.proname || '(' || oidvectortypes(p.proargtypes) || ')' as name
  from pg_proc p join schemas s on s.oid = p.pronamespace
  where not exists (select from extension_objects e where e.classid = 'pg_proc'::regclass and e.objid = p.oid)),
owner as (select mode() within group (order by relowner) as oid from tables),
roles as (
  select r.oid, case when r.oid = (select oid from owner) then 'owner' else r.rolname::text end as name from pg_roles r
  union all select 0, 'public'),
known as (select oid, name from roles where name in ('public', 'crossdock_app', 'crossdock_lookup')),
acls as (
  select 'schema ' || name as object, nspowner as owner, coalesce(nspacl, acldefault('n', nspowner)) as acl from schemas
  union all
  select case relkind when 'S' then 'sequence ' else 'table ' end || name, relowner,
    coalesce(relacl, acldefault(case relkind when 'S' then 's' else 'r' end::"char", relowner))
  from relations where relkind in ('r', 'p', 'v', 'm', 'S', 'f')
  union all
  select 'column ' || t.name || '.' || a.attname, t.relowner, a.attacl
  from tables t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped where a.attacl is not null
  union all
  select 'function ' || name, proowner, coalesce(proacl, acldefault('f', proowner)) from functions),
rights as (
  select a.object, lower(x.privilege_type) || case when x.is_grantable then ' with grant option' else '' end as privilege, x.grantee
  from acls a, aclexplode(a.acl) x where x.grantee <> a.owner and x.grantee <> (select oid from owner))

select 'role' as kind, rolname::text as object, coalesce(nullif(concat_ws(', ',
    case when rolsuper then 'superuser' end, case when rolbypassrls then 'bypassrls' end, case when rolcanlogin then 'login' end,
    case when rolcreaterole then 'createrole' end, case when rolcreatedb then 'createdb' end,
    case when rolreplication then 'replication' end), ''), 'no attributes') as value
  from pg_roles where rolname in ('crossdock_app', 'crossdock_lookup')
union all
select 'membership', member::regrole || ' in ' || roleid::regrole, 'member' from pg_auth_members
  where member in (select oid from known) or (roleid = 'crossdock_lookup'::regrole and exists (
    select from pg_roles r where pg_has_role(r.oid, member, 'member') and has_database_privilege(r.oid, current_database(), 'connect')
      and not r.rolsuper and r.rolname <> session_user and r.oid <> (select oid from owner)
      and not exists (select from pg_database d where d.datdba = r.oid and d.datname <> current_database())))
union all
select 'grant', r.privilege || ' on ' || r.object || ' to ' || k.name, 'granted' from rights r join known k on k.oid = r.grantee
union all
select 'other grant', r.privilege || ' on ' || r.object || ' to ' || g.rolname, 'granted'
  from rights r join pg_roles g on g.oid = r.grantee
  where not g.rolsuper and g.rolname !~ '^pg_' and r.grantee not in (select oid from known) and g.rolname <> session_user
union all
select 'owner', o.object, coalesce(r.name, 'unknown') from (
    select case relkind when 'S' then 'sequence ' when 'v' then 'view ' when 'm' then 'materialized view ' when 'f' then 'foreign table '
        else 'table ' end || name as object, relowner as oid
      from relations where relkind in ('r', 'p', 'v', 'm', 'S', 'f')
    union all select 'function ' || name, proowner from functions
    union all select 'schema ' || name, nspowner from schemas where name <> 'public') o
  left join roles r on r.oid = o.oid
union all
select 'row-level security', name,
    case when relrowsecurity then 'enabled' else 'disabled' end || case when relforcerowsecurity then ', forced' else ', not forced' end
  from tables
union all
select 'view', v.name, coalesce(array_to_string(v.reloptions, ', '), 'no options') from relations v where relkind in ('v', 'm')
union all
select 'policy', p.polname || ' on ' || t.name, concat_ws(' ',
    'as', case when p.polpermissive then 'permissive' else 'restrictive' end,
    'for', case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
    'to', (select string_agg(r.name, ', ' order by r.name) from roles r where r.oid = any(p.polroles)),
    'using (' || pg_get_expr(p.polqual, p.polrelid) || ')', 'with check (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')')
  from pg_policy p join tables t on t.oid = p.polrelid
union all
select 'trigger', g.tgname || ' on ' || t.name,
    case g.tgenabled when 'O' then 'enabled' when 'D' then 'disabled' when 'R' then 'replica only' else 'always' end
    || ': ' || pg_get_triggerdef(g.oid)
  from pg_trigger g join tables t on t.oid = g.tgrelid where not g.tgisinternal and not (g.tgname ~ '${FENCE}' and g.tgenabled = 'O'
    and g.tgfoid = to_regprocedure('installation.refuse_unless_active()'))
union all
select distinct 'references', 'on ' || t.name, 'not checked' from pg_trigger g join tables t on t.oid = g.tgrelid
  where g.tgisinternal and g.tgenabled <> 'O'
union all
select 'rule', r.rulename || ' on ' || t.name, pg_get_ruledef(r.oid)
  from pg_rewrite r join tables t on t.oid = r.ev_class
union all
select 'function body', name, md5(coalesce(pg_get_function_sqlbody(oid), prosrc)) from functions
union all
select 'function security', name, case when prosecdef then 'security definer' else 'security invoker' end
    || coalesce(' set ' || array_to_string(proconfig, ' set '), '')
  from functions
union all
select 'function kind', name, concat_ws(' ', (select lanname from pg_language l where l.oid = prolang),
    case provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
    case proparallel when 's' then 'parallel safe' when 'r' then 'parallel restricted' end,
    case when proleakproof then 'leakproof' end, case when proisstrict then 'strict' end, 'returns', pg_get_function_result(oid))
  from functions
union all
select 'column', t.name || '.' || a.attname,
    format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then ' not null' else '' end
    || case when a.attgenerated <> '' then ' generated' when a.attidentity <> '' then ' identity' else '' end
  from tables t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
union all
select 'constraint', c.conname || ' on ' || t.name, pg_get_constraintdef(c.oid)
  from pg_constraint c join tables t on t.oid = c.conrelid where c.contype in ('p', 'u', 'f', 'c', 'x')
union all
select 'unique index', x.relname || ' on ' || t.name,
    pg_get_indexdef(i.indexrelid) || case when i.indisvalid then '' else ' (invalid)' end
  from pg_index i join tables t on t.oid = i.indrelid join pg_class x on x.oid = i.indexrelid
  where i.indisunique and not exists (select from pg_constraint c where c.conindid = i.indexrelid and c.contype in ('p', 'u', 'x'))`;

/** The quoted name of the role that owns most tables. */
export const READ_OWNER = `select quote_ident(pg_get_userbyid(mode() within group (order by relowner))) as owner
  from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`;
