-- table: scans
-- step: scan keys
with batch as (
  select id, scan, parcel_key, tenant_id from scans
  where $1::text is null or id > $1::text::uuid order by id limit $2::int
)
select (select id::text from batch order by id desc limit 1) as last, (select count(*)::int from batch) as rows,
  (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'number', scan, 'key', parcel_key)), '[]')
   from batch b where not exists (
     select from packages p where p.tenant_id = b.tenant_id and p.tracking_key = b.parcel_key)) as items
