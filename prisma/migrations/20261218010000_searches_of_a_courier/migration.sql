-- upgrade: rolling
-- Searches in the rows of one courier (docs/decisions/0077). search_prealerts, search_packages and customers_matching accept the rows
-- of "all couriers or this one", which no index on the courier can find. For a text without a trigram they read the rows or the index of
-- the whole tenant. Which texts have one depends on the locale of the database, so the planner decides: it knows the text and the
-- courier, because the plan is made anew each time.
create function prealerts_containing(p_pattern text, p_courier uuid) returns setof uuid
language plpgsql stable security definer set search_path = public, pg_temp
set plan_cache_mode = force_custom_plan set jit = off as $$
declare
  tenant constant uuid := app_tenant();
  courier constant uuid := case when app_sees_all_couriers() then p_courier else app_courier() end;
begin
  if courier is not null then
    return query
      select p.id from prealerts p
      where p.tenant_id = tenant and p.courier_id = courier
        and (p.tracking_number || chr(31) || p.user_code || chr(31) || coalesce(p.vendor, '')) ilike p_pattern
      union
      select p.id from customers c
      join prealerts p on p.tenant_id = c.tenant_id and p.courier_id = c.courier_id and p.user_code = c.user_code
      where c.tenant_id = tenant and c.courier_id = courier and (c.first_name || ' ' || c.last_name) ilike p_pattern;
  elsif app_sees_all_couriers() then
    return query
      select p.id from prealerts p
      where p.tenant_id = tenant
        and (p.tracking_number || chr(31) || p.user_code || chr(31) || coalesce(p.vendor, '')) ilike p_pattern
      union
      select p.id from customers c
      join prealerts p on p.tenant_id = c.tenant_id and p.courier_id = c.courier_id and p.user_code = c.user_code
      where c.tenant_id = tenant and (c.first_name || ' ' || c.last_name) ilike p_pattern;
  end if;
end $$;

-- A courier finds a number that is masked for it only by its visible part, as in search_packages.
create function packages_containing(
  p_number text, p_shipper text, p_first_name text, p_last_name text, p_courier uuid) returns setof uuid
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
        and (p_number is null or (p.tracking_number ilike p_number and (sees_all or p.user_code is not null
          or (length(p.tracking_number) > 4 and right(p.tracking_number, 4) ilike p_number))))
        and (p_shipper is null or p.shipper ilike p_shipper)
        and (p_first_name is null or p.first_name ilike p_first_name)
        and (p_last_name is null or p.last_name ilike p_last_name);
  elsif sees_all then
    return query
      select p.id from packages p
      where p.tenant_id = tenant
        and (p_number is null or p.tracking_number ilike p_number)
        and (p_shipper is null or p.shipper ilike p_shipper)
        and (p_first_name is null or p.first_name ilike p_first_name)
        and (p_last_name is null or p.last_name ilike p_last_name);
  end if;
end $$;

create function customers_containing(p_pattern text, p_courier uuid) returns setof uuid
language plpgsql stable security definer set search_path = public, pg_temp
set plan_cache_mode = force_custom_plan set jit = off as $$
declare
  tenant constant uuid := app_tenant();
  courier constant uuid := case when app_sees_all_couriers() then p_courier else app_courier() end;
begin
  if courier is not null then
    return query
      select c.id from customers c
      where c.tenant_id = tenant and c.courier_id = courier
        and (c.user_code ilike p_pattern or (c.first_name || ' ' || c.last_name) ilike p_pattern);
  elsif app_sees_all_couriers() then
    return query
      select c.id from customers c
      where c.tenant_id = tenant
        and (c.user_code ilike p_pattern or (c.first_name || ' ' || c.last_name) ilike p_pattern);
  end if;
end $$;

grant create on schema public to crossdock_lookup;
alter function prealerts_containing(text, uuid) owner to crossdock_lookup;
alter function packages_containing(text, text, text, text, uuid) owner to crossdock_lookup;
alter function customers_containing(text, uuid) owner to crossdock_lookup;
revoke create on schema public from crossdock_lookup;
revoke all on function prealerts_containing(text, uuid), packages_containing(text, text, text, text, uuid),
  customers_containing(text, uuid) from public;
grant execute on function prealerts_containing(text, uuid), packages_containing(text, text, text, text, uuid),
  customers_containing(text, uuid) to crossdock_app;
