-- upgrade: rolling
-- No statement of a running release searches by this index any more.
drop index concurrently if exists customers_user_code_trgm;
