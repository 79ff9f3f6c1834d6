-- upgrade: rolling
-- Finds the open pre-alerts of a customer among many received ones (docs/decisions/0103).
create index concurrently if not exists prealerts_open on prealerts (tenant_id, courier_id, user_code, id) where status <> 'received';
