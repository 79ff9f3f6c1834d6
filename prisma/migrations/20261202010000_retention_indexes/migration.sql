-- upgrade: rolling
-- The time that retention reads, for the tables that had no index on it (docs/decisions/0049). Logins lock throttles before
-- sessions.
create index concurrently if not exists login_throttles_tenant_id_updated_at_idx on login_throttles (tenant_id, updated_at);

create index concurrently if not exists sessions_end on sessions (tenant_id, coalesce(ended_at, expires_at));

create index concurrently if not exists dispatches_tenant_id_requested_at_idx on dispatches (tenant_id, requested_at);

create index concurrently if not exists customer_sync_runs_tenant_id_created_at_idx
  on customer_sync_runs (tenant_id, created_at);
