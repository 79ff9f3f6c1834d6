-- upgrade: rolling
-- What one principal's requests have made the service write, less what has been refilled (docs/decisions/0131): a courier with all its
-- users, keys and tokens, or a member of the staff.
create table write_allowances (
  tenant_id uuid not null,
  principal_kind text not null check (principal_kind in ('courier', 'user')),
  principal_id uuid not null,
  courier_id uuid,
  used bigint not null check (used >= 0),
  settled_at timestamptz(3) not null,
  primary key (tenant_id, principal_kind, principal_id),
  check ((principal_kind = 'courier') = (courier_id is not null)),
  check (courier_id = principal_id)
);

-- Each settlement rewrites a row in place.
alter table write_allowances set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

alter table write_allowances enable row level security;
alter table write_allowances force row level security;
create policy courier_scope on write_allowances
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));

grant select, insert, update, delete on write_allowances to crossdock_app;
