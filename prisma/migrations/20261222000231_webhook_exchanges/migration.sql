-- upgrade: rolling
-- What was sent and answered in attempts to deliver webhooks (docs/decisions/0126). A table of its own, so that pages of the log and the
-- settlement of deliveries do not read it.
create table webhook_exchanges (
  tenant_id uuid not null,
  delivery_id uuid not null,
  number smallint not null,
  courier_id uuid not null,
  url text not null,
  request_headers jsonb not null,
  request_body text not null,
  request_bytes integer not null,
  response_headers jsonb,
  response_body text,
  response_is_cut boolean not null default false,
  expires_at timestamptz(3) not null,
  primary key (tenant_id, delivery_id, number),
  constraint webhook_exchanges_tenant_id_delivery_id_fkey foreign key (tenant_id, delivery_id)
    references webhook_deliveries (tenant_id, id) on delete cascade on update restrict
);

create index webhook_exchanges_tenant_id_expires_at_idx on webhook_exchanges (tenant_id, expires_at);

alter table webhook_exchanges enable row level security;
alter table webhook_exchanges force row level security;
create policy courier_scope on webhook_exchanges
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));

grant select, insert, delete on webhook_exchanges to crossdock_app;
