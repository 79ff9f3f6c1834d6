-- upgrade: rolling
-- The role and the courier of a token must be those of the user's row. enter_as_user believed them. It stays for processes of
-- the previous release; a later release drops it.
create function enter_with_token(p_tenant uuid, p_user uuid, p_token_version integer, p_expires_at bigint,
  p_changes_password boolean, p_session uuid, p_enrols boolean, p_role text, p_courier uuid)
returns table (outcome text, courier_id uuid)
language plpgsql as $$
declare
  enabled boolean;
  version integer;
  must_change boolean;
  must_enrol boolean;
  has_same_rights boolean;
  session_is_open boolean;
  is_elsewhere boolean;
begin
  perform set_config('app.tenant_id', p_tenant::text, true), set_config('app.courier_id', 'all', true);
  select u.courier_id, u.token_version, u.is_active and coalesce(c.is_active, true), u.must_change_password,
      not u.two_factor_enabled and coalesce(u.role = any (settings.require_two_factor), false),
      u.role = p_role and u.courier_id is not distinct from p_courier,
      case when p_session is null then settings.idle_timeout_minutes is null
        else s.id is not null and s.ended_at is null and (settings.idle_timeout_minutes is null
          or s.last_seen_at > now() - make_interval(mins => settings.idle_timeout_minutes, secs => 15)) end,
      exists (select from installation.tenant_cells cell
        where cell.tenant_id = p_tenant and cell.state not in ('active', 'moving'))
    into enter_with_token.courier_id, version, enabled, must_change, must_enrol, has_same_rights, session_is_open, is_elsewhere
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
    when not coalesce(has_same_rights, false) then 'token_invalid'
    when not session_is_open then 'session_ended'
    when must_change and not p_changes_password then 'password_change_required'
    when must_enrol and not p_enrols then 'two_factor_required'
    else 'ok' end;
  if outcome <> 'ok' then
    perform set_config('app.tenant_id', '', true), set_config('app.courier_id', '', true);
  elsif enter_with_token.courier_id is not null then
    perform set_config('app.courier_id', enter_with_token.courier_id::text, true);
  end if;
  return next;
end $$;
