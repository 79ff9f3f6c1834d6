-- upgrade: rolling
-- Find the few open manifests among many, and list flights by their day. A manifest changes its status a few times only.
create index concurrently if not exists manifests_tenant_id_status_created_at_id_idx
  on manifests (tenant_id, status, created_at, id);

create index concurrently if not exists manifests_flights
  on manifests (tenant_id, (coalesce(flight_date, '-infinity'::date)), id);
