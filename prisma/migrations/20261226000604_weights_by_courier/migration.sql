-- upgrade: rolling
-- One courier's packages by weight: the index alone shows whose they are, so the packages of others are not read (docs/decisions/0118).
-- CreateIndex
create index concurrently if not exists packages_tenant_id_weight_lb_id_courier_id_idx on packages (tenant_id, weight_lb, id, courier_id);
