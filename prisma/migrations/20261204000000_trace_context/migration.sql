-- upgrade: rolling
-- The trace of the request that caused a webhook, in the format of the W3C header traceparent. Null unless the request was
-- traced: then the column takes no space in the row.
alter table webhook_deliveries add column traceparent text;
alter table package_syncs add column traceparent text;
