-- table: prealert_flags
-- step: flag keys
-- A flag has no id: its courier and its key are its primary key.
with batch as (
  select (courier_id::text || ' ' || tracking_key) collate "C" as place, courier_id, tracking_key from prealert_flags
  where $1::text is null or (courier_id::text || ' ' || tracking_key) collate "C" > $1::text
  order by 1 limit $2::int
)
select (select place from batch order by place desc limit 1) as last, (select count(*)::int from batch) as rows,
  (select coalesce(jsonb_agg(jsonb_build_object('id', courier_id, 'number', tracking_key, 'key', tracking_key)), '[]')
   from batch) as items
