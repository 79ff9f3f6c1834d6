-- upgrade: rolling
-- reviewed: constraint tenants.sandbox_has_a_courier changed: its columns are new, and the previous release leaves both null.
-- Its own transaction, so that the one before holds its lock on tenants for a moment only.
alter table tenants validate constraint sandbox_has_a_courier;
