-- upgrade: rolling
-- Find the unpaid bills of each courier, and the bills of a month, among many others (docs/decisions/0119).
create index concurrently if not exists bills_unpaid on bills (tenant_id, courier_id) where status = 'published';

create index concurrently if not exists bills_tenant_id_end_date_idx on bills (tenant_id, end_date);
