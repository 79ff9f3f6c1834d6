-- upgrade: rolling
-- reviewed: constraint feeds.feed_kind_is_known changed: it is only validated.
-- reviewed: constraint feeds.feeds_tenant_id_customer_id_fkey changed: it is only validated.
-- reviewed: constraint feeds.customer_is_of_a_shop changed: it is only validated.
-- Validates what the migration before has added and replaced. Readers and writers go on meanwhile.
alter table feeds validate constraint feed_kind_is_known;
alter table feeds validate constraint feeds_tenant_id_customer_id_fkey;
alter table feeds validate constraint customer_is_of_a_shop;
