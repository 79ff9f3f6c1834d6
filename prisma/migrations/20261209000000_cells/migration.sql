-- upgrade: rolling
-- Tenant cells (docs/decisions/0060): all rows of a tenant are in one database, and npm run tenant:move moves them to another one.
-- A tenant without a row in installation.tenant_cells is active, so that a single database contains no row here.
create table installation.tenant_cells (
  tenant_id uuid primary key,
  -- arriving: is being copied to this cell. active: is served here, and the other cell has a copy. moving: reads are served,
  -- writes are refused. moved: is served by the other cell. gone: the same, and this cell has no rows of it any more.
  state text not null check (state in ('arriving', 'active', 'moving', 'moved', 'gone')),
  -- The cell that the tenant is copied from, or the one that it is copied to.
  role text not null check (role in ('source', 'target')),
  other_cell text not null,
  changed_at timestamptz not null default now()
);

-- The last row that a move writes to the source. When it arrives in the target, everything before it has arrived.
create table installation.tenant_markers (
  tenant_id uuid primary key,
  marker uuid not null
);

grant select on installation.tenant_cells to crossdock_app, crossdock_lookup;
grant select on installation.tenant_markers to crossdock_app;
grant usage on schema installation to crossdock_lookup;

-- The fence of a tenant that is being moved. Each of its tables has two triggers with this function while the move lasts;
-- their argument is the tenant. npm run tenant:move takes the lock exclusively to close the tenant. It waits for the
-- transactions of this tenant that have written, and for no others. The code of the error becomes a 503 in every release.
create function installation.refuse_unless_active() returns trigger
language plpgsql as $$
declare
  tenant uuid := tg_argv[0];
begin
  perform pg_advisory_xact_lock_shared(x'63656c6c'::int, hashtext(tenant::text));
  if exists (select from installation.tenant_cells c where c.tenant_id = tenant and c.state <> 'active') then
    raise exception 'tenant % is not active in this database', tenant using errcode = 'cannot_connect_now';
  end if;
  if tg_op = 'DELETE' then return old; end if;
  return new;
end $$;

-- The tenants of a host, with their state in this cell.
create function tenants_at_host(p_host text) returns table (tenant_id uuid, is_exact boolean, state text)
language sql stable security definer set search_path = public, pg_temp as $$
  select h.tenant_id, h.host = p_host, coalesce(c.state, 'active')
  from tenant_hosts h left join installation.tenant_cells c on c.tenant_id = h.tenant_id
  where h.host in (p_host, '*')
$$;

grant create on schema public to crossdock_lookup;
alter function tenants_at_host(text) owner to crossdock_lookup;
revoke create on schema public from crossdock_lookup;
revoke all on function tenants_at_host(text) from public;
grant execute on function tenants_at_host(text) to crossdock_app;

-- Jobs run where their tenant is active.
create or replace function all_tenants() returns setof uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select id from tenants t
  where not exists (select from installation.tenant_cells c where c.tenant_id = t.id and c.state <> 'active') order by id
$$;

-- Each way into a scope refuses a tenant that this cell does not serve. A refused scope is empty.

create function enter_as_system(p_tenant uuid) returns table (outcome text)
language plpgsql as $$
begin
  if exists (select from installation.tenant_cells c where c.tenant_id = p_tenant and c.state not in ('active', 'moving')) then
    perform set_config('app.tenant_id', '', true), set_config('app.courier_id', '', true);
    outcome := 'unavailable';
  else
    perform set_config('app.tenant_id', p_tenant::text, true), set_config('app.courier_id', 'all', true);
    outcome := 'ok';
  end if;
  return next;
end $$;

create or replace function enter_with_key(p_tenant uuid, p_key_hash text)
returns table (outcome text, courier_id uuid)
language plpgsql as $$
declare
  is_elsewhere boolean;
begin
  perform set_config('app.tenant_id', p_tenant::text, true), set_config('app.courier_id', 'all', true);
  select c.id, exists (select from installation.tenant_cells cell
      where cell.tenant_id = p_tenant and cell.state not in ('active', 'moving'))
    into enter_with_key.courier_id, is_elsewhere
    from couriers c where c.tenant_id = p_tenant and c.api_key_hash = p_key_hash and c.is_active;
  if not found then
    is_elsewhere := exists (select from installation.tenant_cells cell
      where cell.tenant_id = p_tenant and cell.state not in ('active', 'moving'));
    outcome := case when is_elsewhere then 'unavailable' else 'key_invalid' end;
  else
    outcome := case when is_elsewhere then 'unavailable' else 'ok' end;
  end if;
  if outcome = 'ok' then
    perform set_config('app.courier_id', enter_with_key.courier_id::text, true);
  else
    perform set_config('app.tenant_id', '', true), set_config('app.courier_id', '', true);
  end if;
  return next;
end $$;

create or replace function enter_as_user(p_tenant uuid, p_user uuid, p_token_version integer, p_expires_at bigint,
  p_changes_password boolean default false, p_session uuid default null, p_enrols boolean default false)
returns table (outcome text, courier_id uuid)
language plpgsql as $$
declare
  enabled boolean;
  version integer;
  must_change boolean;
  must_enrol boolean;
  session_is_open boolean;
  is_elsewhere boolean;
begin
  perform set_config('app.tenant_id', p_tenant::text, true), set_config('app.courier_id', 'all', true);
  select u.courier_id, u.token_version, u.is_active and coalesce(c.is_active, true), u.must_change_password,
      not u.two_factor_enabled and coalesce(u.role = any (settings.require_two_factor), false),
      case when p_session is null then settings.idle_timeout_minutes is null
        else s.id is not null and s.ended_at is null and (settings.idle_timeout_minutes is null
          or s.last_seen_at > now() - make_interval(mins => settings.idle_timeout_minutes, secs => 15)) end,
      exists (select from installation.tenant_cells cell
        where cell.tenant_id = p_tenant and cell.state not in ('active', 'moving'))
    into enter_as_user.courier_id, version, enabled, must_change, must_enrol, session_is_open, is_elsewhere
    from users u left join couriers c on c.tenant_id = u.tenant_id and c.id = u.courier_id
      left join security_settings settings on settings.tenant_id = u.tenant_id
      left join sessions s on s.tenant_id = u.tenant_id and s.id = p_session and s.user_id = u.id
    where u.tenant_id = p_tenant and u.id = p_user;
  if version is null then
    is_elsewhere := exists (select from installation.tenant_cells cell
      where cell.tenant_id = p_tenant and cell.state not in ('active', 'moving'));
  end if;
  outcome := case
    when is_elsewhere then 'unavailable'
    when version is null then 'token_invalid'
    when to_timestamp(p_expires_at) <= now() then 'token_expired'
    when not enabled then 'account_disabled'
    when version <> p_token_version then 'token_invalid'
    when not session_is_open then 'session_ended'
    when must_change and not p_changes_password then 'password_change_required'
    when must_enrol and not p_enrols then 'two_factor_required'
    else 'ok' end;
  if outcome <> 'ok' then
    perform set_config('app.tenant_id', '', true), set_config('app.courier_id', '', true);
  elsif enter_as_user.courier_id is not null then
    perform set_config('app.courier_id', enter_as_user.courier_id::text, true);
  end if;
  return next;
end $$;
