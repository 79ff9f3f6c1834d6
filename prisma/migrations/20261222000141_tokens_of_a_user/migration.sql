-- upgrade: rolling
-- Counts the open service tokens that a user has created, when the user is disabled.
create index concurrently if not exists service_tokens_of_creators on service_tokens (tenant_id, created_by) where revoked_at is null;
