-- upgrade: rolling
-- The deployments that have used this database, with a fingerprint of each of their secrets. npm run doctor finds a database
-- or a secret that two deployments share. The tables of this schema belong to no tenant and contain no tenant data.
create schema installation;

create table installation.deployments (
  name text not null,
  app_env text not null,
  -- By setting: the fingerprints of its secrets.
  fingerprints jsonb not null,
  version text not null,
  first_seen_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  primary key (name, app_env)
);

grant usage on schema installation to crossdock_app;
grant select, insert, update on installation.deployments to crossdock_app;
