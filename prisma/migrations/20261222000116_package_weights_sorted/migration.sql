-- upgrade: rolling
-- The order of a list of packages by weight (docs/decisions/0118).
-- CreateIndex
create index concurrently if not exists packages_tenant_id_weight_lb_id_idx on packages (tenant_id, weight_lb, id);
