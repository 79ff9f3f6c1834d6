-- Names typed without their space, such as "JohnSmth" (docs/decisions/0012).

-- Texts with one word more that a text may have been meant for: a word of six letters or more is two, of which one is a known term
-- of the scope. At most four, the longest known parts first. Nothing for a text of more than three words.
create function split_names(p_text text, p_courier uuid) returns setof text
language plpgsql stable security definer rows 4 set search_path = public, pg_temp as $$
declare
  tenant constant uuid := app_tenant();
  courier constant uuid := case when app_sees_all_couriers() then p_courier else app_courier() end;
  scope constant uuid := coalesce(courier, tenant);
  words constant text[] := name_words(p_text);
begin
  if cardinality(words) not between 1 and 3 or (courier is null and not app_sees_all_couriers()) then
    return;
  end if;
  return query
    with splits as (
      select place, n, left(word, n) as one, substr(word, n + 1) as other
      from unnest(words) with ordinality parts (word, place), generate_series(2, length(word) - 2) n
      where length(word) >= 6
    ), known as materialized (
      select part from (select one as part from splits union select other from splits) parts where exists (
        select from customer_terms t where t.tenant_id = tenant and t.scope_id = scope and t.term = part)
    )
    select array_to_string(words[:place - 1] || one || other || words[place + 1:], ' ')
    from splits left join known first on first.part = one left join known second on second.part = other
    where first.part is not null or second.part is not null
    order by coalesce(length(first.part), 0) + coalesce(length(second.part), 0) desc, place, n limit 4;
end $$;

grant create on schema public to crossdock_lookup;
alter function split_names(text, uuid) owner to crossdock_lookup;
revoke create on schema public from crossdock_lookup;
revoke all on function split_names(text, uuid) from public;
grant execute on function split_names(text, uuid) to crossdock_app;
