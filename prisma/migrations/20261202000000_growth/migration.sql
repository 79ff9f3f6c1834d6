-- upgrade: rolling
-- Keeps the cost of retention, statistics and visibility independent of the size of a table (docs/decisions/0049).

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
