-- upgrade: rolling
-- The index of the migration before serves the statements of the previous release too. The other one would read all voided scans of a parcel.
drop index scans_tenant_id_parcel_key_idx;

-- The scans of a voided receipt count no more, so they stay as they were when the number is corrected. There can be many.
create or replace function follow_tracking_key() returns trigger
language plpgsql as $$
begin
  update scans s set parcel_key = new.tracking_key
    where s.tenant_id = new.tenant_id and s.parcel_key = old.tracking_key and s.voided_at is null;
  update parcel_positions p set parcel_key = new.tracking_key where p.tenant_id = new.tenant_id
    and p.parcel_key = old.tracking_key and not exists (
      select from parcel_positions other where other.tenant_id = new.tenant_id and other.parcel_key = new.tracking_key);
  return null;
end $$;
