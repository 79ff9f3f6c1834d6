-- upgrade: rolling
-- Customers whose received pre-alerts the worker still has to give the new user code (docs/decisions/0103). Servers of the previous
-- release write all pre-alerts of a customer with the rename, so they leave nothing to do.
create table prealert_renames (
  tenant_id uuid not null,
  courier_id uuid not null,
  user_code text not null,
  customer_id uuid not null,
  renamed_at timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, courier_id, user_code),
  constraint prealert_renames_tenant_id_courier_id_fkey foreign key (tenant_id, courier_id)
    references couriers (tenant_id, id) on delete cascade on update restrict
);

alter table prealert_renames enable row level security;
alter table prealert_renames force row level security;
create policy courier_scope on prealert_renames
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));

grant select, insert, update, delete on prealert_renames to crossdock_app;
