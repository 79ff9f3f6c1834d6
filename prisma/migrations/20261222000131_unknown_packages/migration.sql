-- upgrade: rolling
-- Finds the parcels without a customer among a million others (docs/decisions/0120).
create index concurrently if not exists packages_unknown on packages (tenant_id, id) where user_code is null;
