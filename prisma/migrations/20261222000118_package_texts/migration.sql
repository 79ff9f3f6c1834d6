-- upgrade: rolling
-- The packages that a text means (docs/decisions/0118): its tracking number or a part of it, its house number, the code of the customer
-- or words of the customer's name. As packages_containing, the functions belong to crossdock_lookup, filter by the caller's scope themselves, and
-- compare a masked number with its visible part only. The plans are made anew each time, because they depend on the text and the courier.

-- The newest 500. It reads the packages from the newest on, which is fast if many match.
create function newest_packages_of_text(p_number text, p_codes text[], p_keys text[], p_first text, p_second text, p_third text, p_courier uuid)
  returns setof uuid
language plpgsql stable security definer set search_path = public, pg_temp
set plan_cache_mode = force_custom_plan set jit = off
set enable_indexscan = on set enable_bitmapscan = off set enable_seqscan = off as $$
declare
  tenant constant uuid := app_tenant();
  sees_all constant boolean := app_sees_all_couriers();
  courier constant uuid := case when sees_all then p_courier else app_courier() end;
begin
  if courier is null and not sees_all then return; end if;
  return query
  select p.id from packages p
  where p.tenant_id = tenant and (courier is null or p.courier_id = courier)
    and (p.house_number = any(p_codes) or p.user_code = any(p_codes)
      or (p.tracking_number ilike p_number and (sees_all or p.user_code is not null
        or (length(p.tracking_number) > 4 and right(p.tracking_number, 4) ilike p_number)))
      or (p.tracking_key = any(p_keys) and (sees_all or p.user_code is not null))
      or ((p.first_name ilike p_first or p.last_name ilike p_first)
        and (p_second is null or p.first_name ilike p_second or p.last_name ilike p_second)
        and (p_third is null or p.first_name ilike p_third or p.last_name ilike p_third)))
  order by p.received_at desc, p.id desc limit 500;
end $$;

-- All, or the newest if there are more than 10,000. The first statement reads the trigram index whatever the planner expects: it knows the share of
-- a text in a column badly, and would read all packages for one that is rarer than it expects.
create function packages_of_text(p_number text, p_codes text[], p_keys text[], p_first text, p_second text, p_third text, p_courier uuid)
  returns setof uuid
language plpgsql stable security definer set search_path = public, pg_temp
set plan_cache_mode = force_custom_plan set jit = off
set enable_indexscan = off set enable_indexonlyscan = off set enable_seqscan = off as $$
declare
  tenant constant uuid := app_tenant();
  sees_all constant boolean := app_sees_all_couriers();
  courier constant uuid := case when sees_all then p_courier else app_courier() end;
  found uuid[];
begin
  if courier is null and not sees_all then return; end if;
  select array_agg(f.id) into found from (
  select p.id from packages p
  where p.tenant_id = tenant and (courier is null or p.courier_id = courier)
    and (p.house_number = any(p_codes) or p.user_code = any(p_codes)
      or (p.tracking_number ilike p_number and (sees_all or p.user_code is not null
        or (length(p.tracking_number) > 4 and right(p.tracking_number, 4) ilike p_number)))
      or (p.tracking_key = any(p_keys) and (sees_all or p.user_code is not null))
      or ((p.first_name ilike p_first or p.last_name ilike p_first)
        and (p_second is null or p.first_name ilike p_second or p.last_name ilike p_second)
        and (p_third is null or p.first_name ilike p_third or p.last_name ilike p_third)))
  limit 10001) f;
  if cardinality(found) > 10000 then
    return query select newest_packages_of_text(p_number, p_codes, p_keys, p_first, p_second, p_third, p_courier);
  else
    return query select unnest(found);
  end if;
end $$;

grant create on schema public to crossdock_lookup;
alter function newest_packages_of_text(text, text[], text[], text, text, text, uuid) owner to crossdock_lookup;
alter function packages_of_text(text, text[], text[], text, text, text, uuid) owner to crossdock_lookup;
revoke create on schema public from crossdock_lookup;
revoke all on function newest_packages_of_text(text, text[], text[], text, text, text, uuid), packages_of_text(text, text[], text[], text, text, text, uuid) from public;
grant execute on function packages_of_text(text, text[], text[], text, text, text, uuid) to crossdock_app;
