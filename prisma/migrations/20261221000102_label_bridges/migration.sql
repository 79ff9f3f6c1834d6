-- upgrade: rolling
-- When a print bridge last asked for the labels of a station. Servers of the previous release do not note it: until the
-- upgrade has ended, stations with the setting "auto" may print on their own device.
create table label_bridges (
  tenant_id uuid not null,
  station text not null check (char_length(station) between 1 and 50),
  seen_at timestamptz(3) not null,
  primary key (tenant_id, station)
);
create index label_bridges_tenant_id_seen_at_idx on label_bridges (tenant_id, seen_at);

-- Only staff print labels.
alter table label_bridges enable row level security;
alter table label_bridges force row level security;
create policy staff_scope on label_bridges
  using (tenant_id = app_tenant() and (select app_sees_all_couriers()))
  with check (tenant_id = app_tenant() and (select app_sees_all_couriers()));

grant select, insert, update, delete on label_bridges to crossdock_app;
