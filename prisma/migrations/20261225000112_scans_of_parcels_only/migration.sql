-- upgrade: rolling
-- The index of the migration before serves the statements of the previous release too. This one would read all voided scans of a parcel.
drop index concurrently if exists scans_tenant_id_parcel_key_idx;
