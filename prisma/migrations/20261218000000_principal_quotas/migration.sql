-- upgrade: rolling
-- What one principal has used of a limit per day (docs/decisions/0076): a courier with all its users and keys, or a member of the staff.
create table principal_quotas (
  tenant_id uuid not null,
  principal_kind text not null check (principal_kind in ('courier', 'user')),
  principal_id uuid not null,
  courier_id uuid,
  kind text not null,
  period_start timestamptz(3) not null,
  used bigint not null check (used >= 0),
  primary key (tenant_id, principal_kind, principal_id, kind, period_start),
  check ((principal_kind = 'courier') = (courier_id is not null)),
  check (courier_id = principal_id)
);

-- Each request with an Idempotency-Key rewrites a row in place.
alter table principal_quotas set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

alter table principal_quotas enable row level security;
alter table principal_quotas force row level security;
create policy courier_scope on principal_quotas
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));

grant select, insert, update, delete on principal_quotas to crossdock_app;
