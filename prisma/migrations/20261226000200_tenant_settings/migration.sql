-- upgrade: rolling
-- The time zone and the currency of a tenant (docs/decisions/0140). Servers of the previous release do not read them: they show UTC and
-- USD, the values of a tenant without a row.
create table tenant_settings (
  tenant_id uuid not null,
  time_zone text not null,
  currency text not null,
  updated_at timestamptz(3) not null default current_timestamp,

  constraint tenant_settings_pkey primary key (tenant_id),
  constraint tenant_settings_tenant_id_fkey foreign key (tenant_id) references tenants (id) on delete cascade on update cascade,
  constraint tenant_settings_time_zone_is_a_name check (time_zone ~ '^[A-Z][A-Za-z]*([/_+-][A-Za-z0-9]+)*$' and length(time_zone) <= 64),
  constraint tenant_settings_currency_is_a_code check (currency ~ '^[A-Z]{3}$')
);

alter table tenant_settings enable row level security;
alter table tenant_settings force row level security;
-- Couriers see the times of the warehouse too. Only staff change them.
create policy tenant_reads on tenant_settings for select using (tenant_id = app_tenant());
create policy staff_writes on tenant_settings
  using (tenant_id = app_tenant() and (select app_sees_all_couriers()))
  with check (tenant_id = app_tenant() and (select app_sees_all_couriers()));

grant select, insert, update on tenant_settings to crossdock_app;
