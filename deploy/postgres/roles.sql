-- The database and its roles. Run it once, as a superuser:
--   psql -v owner_password="$(cat OWNER_PASSWORD)" -v login_password="$(cat LOGIN_PASSWORD)" -f roles.sql postgres
\set ON_ERROR_STOP on

-- Owns the tables and runs the migrations.
create role crossdock_owner login createrole password :'owner_password';
create database crossdock owner crossdock_owner;

-- What the service may do. The migrations grant the rights.
create role crossdock_app nologin;
grant crossdock_app to crossdock_owner with admin option;
create role crossdock_login login in role crossdock_app password :'login_password';

-- For statements outside a transaction, which have no timeout behind a pooler.
alter role crossdock_login set statement_timeout = '15s';
