-- upgrade: rolling
-- Finds the scans of a parcel that count, however many of its receipts were voided.
create index concurrently if not exists scans_tenant_id_parcel_key_voided_at_idx on scans (tenant_id, parcel_key, voided_at);
