-- table: prealerts
-- step: announced keys
-- Selects the pre-alerts whose keys the worker computes. $1 is the last id, $2 the number of rows.
with batch as (
  select id, tracking_number, tracking_key from prealerts
  where $1::text is null or id > $1::text::uuid order by id limit $2::int
)
select (select id::text from batch order by id desc limit 1) as last, (select count(*)::int from batch) as rows,
  (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'number', tracking_number, 'key', tracking_key) order by id), '[]')
   from batch) as items
