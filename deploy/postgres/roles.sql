-- The database of one deployment and its roles. Run it once per deployment, as a superuser:
--   psql -v owner_password="$(cat OWNER_PASSWORD)" -v login_password="$(cat LOGIN_PASSWORD)" -f roles.sql postgres
-- Several deployments may share a cluster. Each needs a name of its own, the same as for make-secrets.sh: -v name=crossdock_staging
-- It names the database, and with _owner and _login the roles. Without it the name is crossdock.
-- What exists already is an error. After a restore, -v restored=true creates only what is missing, and gives these passwords to the roles.
\set ON_ERROR_STOP on
\if :{?name}
\else
  \set name crossdock
\endif
select :'name' ~ '^[a-z][a-z0-9_]{0,39}$' as is_usable \gset
\if :is_usable
\else
  \echo 'name must be lower-case letters, digits and underscores, begin with a letter, and have at most 40 characters.'
  -- Ends psql with an error. \quit would end it with success.
  do $$ begin raise exception 'The name is not usable. Nothing was created.'; end $$;
\endif
\set owner :name _owner
\set login :name _login

\if :{?restored}
\else
  \set restored false
\endif
select not :'restored'::boolean or not exists (select from pg_roles where rolname = :'owner') as creates_owner,
  not :'restored'::boolean or not exists (select from pg_roles where rolname = :'login') as creates_login,
  not :'restored'::boolean or not exists (select from pg_database where datname = :'name') as creates_database \gset

-- Owns the tables and runs the migrations.
\if :creates_owner
  create role :"owner" login createrole;
\endif
alter role :"owner" password :'owner_password';
\if :creates_database
  create database :"name" owner :"owner";
\endif
-- Another deployment's roles have no business here. PostgreSQL lets every role of the cluster connect otherwise.
revoke connect, temporary on database :"name" from public;

-- What the service may do, and who owns its functions: the migrations grant the rights, in each database its own. All deployments share
-- these two roles. Nobody can log in with them. The owner needs them before its first migration, wherever another one created them.
select not exists (select from pg_roles where rolname = 'crossdock_app') as app_is_missing,
  not exists (select from pg_roles where rolname = 'crossdock_lookup') as lookup_is_missing \gset
\if :app_is_missing
  create role crossdock_app nologin;
\endif
\if :lookup_is_missing
  create role crossdock_lookup nologin;
\endif
grant crossdock_app, crossdock_lookup to :"owner" with admin option;
\if :creates_login
  create role :"login" login in role crossdock_app;
\endif
alter role :"login" password :'login_password';
-- /ready tries to write into a temporary table, so that a full disk is noticed.
grant connect, temporary on database :"name" to :"login";

-- For statements outside a transaction, which have no timeout behind a pooler.
alter role :"login" set statement_timeout = '15s';
