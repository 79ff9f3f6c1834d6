-- Keeps the cost of retention, statistics and visibility independent of the size of a table (docs/decisions/0049).

-- The time that retention reads, for the tables that had no index on it. Logins lock throttles before sessions.
-- CreateIndex
CREATE INDEX "login_throttles_tenant_id_updated_at_idx" ON "login_throttles"("tenant_id", "updated_at");

create index sessions_end on sessions (tenant_id, coalesce(ended_at, expires_at));

-- CreateIndex
CREATE INDEX "dispatches_tenant_id_requested_at_idx" ON "dispatches"("tenant_id", "requested_at");

-- CreateIndex
CREATE INDEX "customer_sync_runs_tenant_id_created_at_idx" ON "customer_sync_runs"("tenant_id", "created_at");

-- Autovacuum waits for a fifth of a table by default. Of 27 million events, that is 5.4 million dead index entries in front of
-- the oldest event, which the event feed and retention read each time. Index entries are removed even if few pages have any.
alter table events set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);
alter table webhook_deliveries
  set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);
alter table webhook_attempts
  set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);
alter table idempotency_keys set (autovacuum_vacuum_scale_factor = 0.02, vacuum_index_cleanup = on);

-- Nothing is deleted from these. A vacuum after inserts reads only the new pages.
alter table audit_entries set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table audit_links set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table package_events set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
