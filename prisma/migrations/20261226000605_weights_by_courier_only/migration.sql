-- upgrade: rolling
-- The index of the migration before serves the statements of the previous release too.
drop index concurrently if exists packages_tenant_id_weight_lb_id_idx;
