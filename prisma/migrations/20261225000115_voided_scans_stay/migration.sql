-- upgrade: rolling
-- reviewed: function follow_tracking_key() changed: servers of the previous release void no receipts, so they have no voided scans to move.
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
