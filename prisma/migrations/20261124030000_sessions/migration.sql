-- Sessions of users, the networks that they log in from, and the tenant's rules for both.

-- CreateTable
CREATE TABLE "sessions" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "started_by" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "user_agent" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "end_reason" TEXT,

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "known_networks" (
    "tenant_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "network" TEXT NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "known_networks_pkey" PRIMARY KEY ("tenant_id","user_id","network")
);

-- CreateTable
CREATE TABLE "security_settings" (
    "tenant_id" UUID NOT NULL,
    "require_two_factor" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "idle_timeout_minutes" INTEGER,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "security_settings_pkey" PRIMARY KEY ("tenant_id")
);

-- CreateIndex
CREATE INDEX "sessions_tenant_id_user_id_created_at_idx" ON "sessions"("tenant_id", "user_id", "created_at");

-- CreateIndex
CREATE INDEX "sessions_tenant_id_expires_at_idx" ON "sessions"("tenant_id", "expires_at");

-- CreateIndex
CREATE INDEX "known_networks_tenant_id_last_seen_at_idx" ON "known_networks"("tenant_id", "last_seen_at");

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users"("tenant_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "known_networks" ADD CONSTRAINT "known_networks_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users"("tenant_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "security_settings" ADD CONSTRAINT "security_settings_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- ---------------------------------------------------------------------------------------------------
-- From here on: what schema.prisma cannot say.

-- Row-level security: no courier reads or writes sessions. enter_as_user reads them before the scope is narrowed.
do $$
declare
  name text;
begin
  foreach name in array array['sessions', 'known_networks', 'security_settings']
  loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
  end loop;
  foreach name in array array['sessions', 'known_networks']
  loop
    execute format(
      'create policy staff_scope on %I
       using (tenant_id = app_tenant() and (select app_sees_all_couriers()))
       with check (tenant_id = app_tenant() and (select app_sees_all_couriers()))', name);
  end loop;
end $$;

-- Whether a factor is required concerns couriers' users too; staff alone changes it.
create policy tenant_reads on security_settings for select using (tenant_id = app_tenant());
create policy staff_writes on security_settings
  using (tenant_id = app_tenant() and (select app_sees_all_couriers()))
  with check (tenant_id = app_tenant() and (select app_sees_all_couriers()));

grant select, insert, update, delete on sessions, known_networks to crossdock_app;
grant select, insert, update on security_settings to crossdock_app;

-- Invariants -------------------------------------------------------------------------------------------

alter table sessions
  add constraint started_by_is_known
    check (started_by in ('login', 'verify_2fa', 'password_change', 'two_factor_change')),
  add constraint end_reason_is_known check (end_reason in ('logout', 'ended', 'revoked', 'idle')),
  add constraint ended_has_a_reason check ((ended_at is null) = (end_reason is null)),
  add constraint user_agent_is_bounded check (length(user_agent) <= 300);

alter table security_settings
  add constraint roles_are_known check (require_two_factor is not null
    and require_two_factor <@ array['admin', 'manager', 'warehouse', 'courier']),
  add constraint idle_timeout_is_in_range check (idle_timeout_minutes between 5 and 480);

-- Half full, so that writing last_seen_at stays on the page (a HOT update).
alter table sessions set (fillfactor = 50);

-- The trigger below and the idle sweep look for open sessions only.
create index sessions_open on sessions (tenant_id, user_id) where ended_at is null;

-- Whatever raises token_version ends every token of the user. The sessions end with them, in the same statement,
-- so that no caller can forget it.
create function end_sessions_of_user() returns trigger
language plpgsql as $$
begin
  update sessions set ended_at = now(), end_reason = 'revoked'
    where tenant_id = new.tenant_id and user_id = new.id and ended_at is null and expires_at > now();
  return null;
end $$;

create trigger end_sessions after update of token_version on users
  for each row when (new.token_version is distinct from old.token_version) execute function end_sessions_of_user();

-- Dropped and not replaced, because a function with more arguments stands beside the old one. A release before this
-- one calls it with five; its tokens have no session.
--
-- p_changes_password and p_enrols: the operation may be called with a one-time password, or without the second
-- factor that the role requires.
-- The 15 seconds are the interval at which a server writes last_seen_at, and some.
drop function enter_as_user(uuid, uuid, integer, bigint, boolean);

create function enter_as_user(p_tenant uuid, p_user uuid, p_token_version integer, p_expires_at bigint,
  p_changes_password boolean default false, p_session uuid default null, p_enrols boolean default false)
returns table (outcome text, courier_id uuid)
language plpgsql as $$
declare
  enabled boolean;
  version integer;
  must_change boolean;
  must_enrol boolean;
  session_is_open boolean;
begin
  perform set_config('app.tenant_id', p_tenant::text, true), set_config('app.courier_id', 'all', true);
  select u.courier_id, u.token_version, u.is_active and coalesce(c.is_active, true), u.must_change_password,
      not u.two_factor_enabled and coalesce(u.role = any (settings.require_two_factor), false),
      case when p_session is null then settings.idle_timeout_minutes is null
        else s.id is not null and s.ended_at is null and (settings.idle_timeout_minutes is null
          or s.last_seen_at > now() - make_interval(mins => settings.idle_timeout_minutes, secs => 15)) end
    into enter_as_user.courier_id, version, enabled, must_change, must_enrol, session_is_open
    from users u left join couriers c on c.tenant_id = u.tenant_id and c.id = u.courier_id
      left join security_settings settings on settings.tenant_id = u.tenant_id
      left join sessions s on s.tenant_id = u.tenant_id and s.id = p_session and s.user_id = u.id
    where u.tenant_id = p_tenant and u.id = p_user;
  outcome := case
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
