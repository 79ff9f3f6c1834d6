-- table: prealerts
-- step: renamed pre-alerts
-- Selects pre-alerts whose user code no customer of their courier has. $1 is the last id, $2 the number of rows.
with batch as (
  select id, tenant_id, courier_id, user_code, tracking_number, tracking_key from prealerts
  where $1::text is null or id > $1::text::uuid order by id limit $2::int
)
select (select id::text from batch order by id desc limit 1) as last, (select count(*)::int from batch) as rows,
  (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'number', tracking_number, 'key', tracking_key) order by id), '[]')
   from batch b where not exists (
     select from customers c where c.tenant_id = b.tenant_id and c.courier_id = b.courier_id and c.user_code = b.user_code)) as items
