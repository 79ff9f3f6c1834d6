-- upgrade: rolling
-- reviewed: constraint package_events.package_events_tenant_id_package_id_fkey changed: it is only validated.
-- Validates what the migration before has replaced. Readers and writers go on meanwhile.
alter table package_events validate constraint package_events_tenant_id_package_id_fkey;
