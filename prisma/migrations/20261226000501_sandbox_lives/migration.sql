-- upgrade: rolling
-- Lives of parcels in sandboxes, and the clock that they go by (docs/decisions/0151). Servers of the previous release know neither.

-- The clock of a sandbox. Its time is `sandbox_time`, plus `speed` times what has passed since `anchored_at`.
create table sandbox_clocks (
  tenant_id uuid not null,
  courier_id uuid not null,
  speed integer not null,
  sandbox_time timestamptz(3) not null,
  anchored_at timestamptz(3) not null default current_timestamp,
  primary key (tenant_id),
  constraint sandbox_clocks_tenant_id_courier_id_fkey foreign key (tenant_id, courier_id) references couriers (tenant_id, id)
    on delete cascade on update restrict,
  constraint sandbox_speed_is_bounded check (speed between 0 and 1440)
);
create index sandbox_clocks_tenant_id_courier_id_idx on sandbox_clocks (tenant_id, courier_id);

-- The lives. `started_at` and `next_due_at` are times of the sandbox, all others are real times.
create table sandbox_lives (
  tenant_id uuid not null,
  id uuid not null,
  courier_id uuid not null,
  life text not null,
  tracking_number text not null,
  -- Without a foreign key: the courier may delete its pre-alert.
  prealert_id uuid,
  package_id uuid,
  manifest_id uuid,
  bill_id uuid,
  state text not null default 'playing',
  steps_played integer not null default 0,
  started_at timestamptz(3) not null,
  next_due_at timestamptz(3),
  -- The refusal of its next step, which has ended it.
  refused_code text,
  refused_message text,
  -- How often the next step has failed for a reason that is not the courier's.
  attempts integer not null default 0,
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null default current_timestamp,
  primary key (tenant_id, id),
  constraint sandbox_lives_tenant_id_courier_id_fkey foreign key (tenant_id, courier_id) references couriers (tenant_id, id)
    on delete cascade on update restrict,
  constraint sandbox_life_state_is_known check (state in ('playing', 'finished', 'refused', 'stopped')),
  constraint playing_life_has_a_next_step check ((state = 'playing') = (next_due_at is not null)),
  constraint refused_life_has_a_reason check ((state = 'refused') = (refused_code is not null)
    and (refused_code is null) = (refused_message is null))
);
create index sandbox_lives_tenant_id_courier_id_created_at_id_idx on sandbox_lives (tenant_id, courier_id, created_at, id);
-- A pre-alert starts one life.
create unique index sandbox_lives_tenant_id_prealert_id_key on sandbox_lives (tenant_id, prealert_id);
create index sandbox_lives_playing on sandbox_lives (tenant_id, next_due_at, id) where state = 'playing';

alter table sandbox_clocks enable row level security;
alter table sandbox_clocks force row level security;
create policy courier_scope on sandbox_clocks
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
alter table sandbox_lives enable row level security;
alter table sandbox_lives force row level security;
create policy courier_scope on sandbox_lives
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
grant select, insert, update on sandbox_clocks, sandbox_lives to crossdock_app;

-- The sandboxes that a job plays lives in. One statement for all of them, so that live tenants cost nothing.
create function open_sandboxes() returns setof uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select t.id from tenants t
  where t.sandbox_of_tenant_id is not null and exists (select from tenant_hosts h where h.tenant_id = t.id)
  order by t.id
$$;

grant create on schema public to crossdock_lookup;
alter function open_sandboxes() owner to crossdock_lookup;
revoke create on schema public from crossdock_lookup;
revoke all on function open_sandboxes() from public;
grant execute on function open_sandboxes() to crossdock_app;
