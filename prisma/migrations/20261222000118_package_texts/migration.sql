-- upgrade: rolling
-- The newest packages that a text means (docs/decisions/0118): its tracking number or a part of it, its house number, the code of the customer
-- or words of the customer's name. As packages_containing, it belongs to crossdock_lookup, filters by the caller's scope itself, and compares a
-- masked number with its visible part only. The plan is made anew each time, because it depends on the text.
create function packages_found(p_pattern text, p_codes text[], p_keys text[], p_first text, p_second text, p_third text, p_courier uuid)
  returns setof uuid
language plpgsql stable security definer set search_path = public, pg_temp
set plan_cache_mode = force_custom_plan set jit = off as $$
declare
  tenant constant uuid := app_tenant();
  sees_all constant boolean := app_sees_all_couriers();
  courier constant uuid := case when sees_all then p_courier else app_courier() end;
begin
  if courier is not null then
    return query
      select p.id from packages p
      where p.tenant_id = tenant and p.courier_id = courier
        and ((p.tracking_number ilike p_pattern and (sees_all or p.user_code is not null
            or (length(p.tracking_number) > 4 and right(p.tracking_number, 4) ilike p_pattern)))
          or (p.tracking_key = any(p_keys) and (sees_all or p.user_code is not null))
          or p.house_number = any(p_codes) or p.user_code = any(p_codes)
          or ((p.first_name ilike p_first or p.last_name ilike p_first)
            and (p_second is null or p.first_name ilike p_second or p.last_name ilike p_second)
            and (p_third is null or p.first_name ilike p_third or p.last_name ilike p_third)))
      order by p.received_at desc, p.id desc limit 10000;
  elsif sees_all then
    return query
      select p.id from packages p
      where p.tenant_id = tenant
        and (p.tracking_number ilike p_pattern or p.tracking_key = any(p_keys)
          or p.house_number = any(p_codes) or p.user_code = any(p_codes)
          or ((p.first_name ilike p_first or p.last_name ilike p_first)
            and (p_second is null or p.first_name ilike p_second or p.last_name ilike p_second)
            and (p_third is null or p.first_name ilike p_third or p.last_name ilike p_third)))
      order by p.received_at desc, p.id desc limit 10000;
  end if;
end $$;

grant create on schema public to crossdock_lookup;
alter function packages_found(text, text[], text[], text, text, text, uuid) owner to crossdock_lookup;
revoke create on schema public from crossdock_lookup;
revoke all on function packages_found(text, text[], text[], text, text, text, uuid) from public;
grant execute on function packages_found(text, text[], text[], text, text, text, uuid) to crossdock_app;
