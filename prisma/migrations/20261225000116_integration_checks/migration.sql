-- upgrade: rolling
-- Checks of the URLs of couriers, which workers execute (docs/decisions/0139).
create table integration_checks (
  tenant_id uuid not null,
  id uuid not null,
  courier_id uuid not null,
  endpoint text not null,
  requested_by uuid,
  status text not null default 'queued',
  url text,
  format text,
  findings jsonb,
  requests jsonb,
  error text,
  created_at timestamptz(3) not null default current_timestamp,
  started_at timestamptz(3),
  finished_at timestamptz(3),

  constraint integration_checks_pkey primary key (tenant_id, id),
  constraint integration_checks_tenant_id_courier_id_fkey foreign key (tenant_id, courier_id) references couriers (tenant_id, id)
    on delete cascade on update restrict,
  constraint integration_checks_endpoint_is_known check (endpoint in ('add_package', 'update_package', 'get_customers')),
  constraint integration_checks_status_is_known check (status in ('queued', 'running', 'finished', 'failed')),
  constraint integration_checks_end_has_a_time check ((status in ('finished', 'failed')) = (finished_at is not null))
);

create index integration_checks_tenant_id_courier_id_id_idx on integration_checks (tenant_id, courier_id, id);
create index integration_checks_tenant_id_created_at_idx on integration_checks (tenant_id, created_at);
-- One check of a URL waits or runs at a time.
create unique index integration_checks_one_open on integration_checks (tenant_id, courier_id, endpoint)
  where status in ('queued', 'running');

alter table integration_checks enable row level security;
alter table integration_checks force row level security;
create policy courier_scope on integration_checks
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
grant select, insert, update, delete on integration_checks to crossdock_app;
