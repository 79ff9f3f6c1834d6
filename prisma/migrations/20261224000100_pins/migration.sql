-- upgrade: rolling
-- reviewed: constraint sessions.sessions_started_by_is_known_check added: it accepts all that the one that it replaces accepts.
-- reviewed: trigger end_pin on users added: it runs only for a user with a PIN, whom the previous release cannot make, and refuses nothing.
-- The PIN of a warehouse worker, and the stations that remember a worker's login with the password (docs/decisions/0137).
alter table users add column pin_hash text;

-- Not validated: all rows have older values.
alter table sessions drop constraint started_by_is_known;
alter table sessions add constraint sessions_started_by_is_known_check
  check (started_by in ('login', 'verify_2fa', 'password_change', 'two_factor_change', 'pin')) not valid;

create table station_workers (
  tenant_id uuid not null,
  id uuid not null,
  device_hash text not null,
  user_id uuid not null,
  token_version integer not null,
  failures integer not null default 0,
  remembered_at timestamptz(3) not null default current_timestamp,
  expires_at timestamptz(3) not null,

  constraint station_workers_pkey primary key (tenant_id, id),
  constraint station_workers_tenant_id_user_id_fkey foreign key (tenant_id, user_id) references users (tenant_id, id)
    on delete cascade on update restrict,
  constraint station_workers_failures_are_counted check (failures >= 0)
);

create unique index station_workers_tenant_id_device_hash_user_id_key on station_workers (tenant_id, device_hash, user_id);
create index station_workers_tenant_id_user_id_remembered_at_idx on station_workers (tenant_id, user_id, remembered_at);
create index station_workers_tenant_id_expires_at_idx on station_workers (tenant_id, expires_at);

alter table station_workers enable row level security;
alter table station_workers force row level security;
create policy staff_scope on station_workers
  using (tenant_id = app_tenant() and (select app_sees_all_couriers()))
  with check (tenant_id = app_tenant() and (select app_sees_all_couriers()));
grant select, insert, update, delete on station_workers to crossdock_app;

-- What ends every token of a user ends the PIN too: otherwise a PIN that somebody else has set would survive a new password.
create function end_pin_of_user() returns trigger
language plpgsql as $$
begin
  new.pin_hash := null;
  return new;
end $$;

create trigger end_pin before update of token_version on users
  for each row when (new.token_version is distinct from old.token_version and old.pin_hash is not null)
  execute function end_pin_of_user();
