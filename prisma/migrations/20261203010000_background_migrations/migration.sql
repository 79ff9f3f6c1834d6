-- upgrade: rolling
-- The progress of background migrations. The owner adds a row when it applies the migration; workers process the tenants
-- in the order of their ids (docs/migrations.md).
create table installation.background_migrations (
  name text primary key,
  status text not null default 'running' check (status in ('running', 'paused', 'finished')),
  -- Every tenant before this one is done. Of this tenant, every row up to last_key is done.
  tenant_id uuid,
  last_key text,
  rows_done bigint not null default 0,
  -- Estimated when the migration was applied.
  rows_total bigint not null,
  batch_rows integer not null default 100,
  last_error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  finished_at timestamptz
);

grant select on installation.background_migrations to crossdock_app;
grant update (status, tenant_id, last_key, rows_done, batch_rows, last_error, updated_at, finished_at)
  on installation.background_migrations to crossdock_app;
