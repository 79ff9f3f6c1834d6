-- upgrade: rolling
-- Finds the parcels of a place (docs/decisions/0118).
create index concurrently if not exists parcel_positions_place on parcel_positions (tenant_id, location, updated_at) where location is not null;
