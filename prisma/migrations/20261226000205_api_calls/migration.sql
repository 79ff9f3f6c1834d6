-- upgrade: rolling
-- The log of calls that were made with credentials of couriers (docs/decisions/0141). Servers of the previous release do not write it.
create table api_calls (
  tenant_id uuid not null,
  request_id uuid not null,
  courier_id uuid not null,
  called_at timestamptz(3) not null,
  operation_id text not null,
  status smallint,
  code text,
  duration_ms integer not null,
  credential text not null,
  credential_id uuid,
  credential_hint text,
  is_replayed boolean not null default false,
  expires_at timestamptz(3) not null,

  constraint api_calls_pkey primary key (tenant_id, request_id),
  constraint api_calls_tenant_id_courier_id_fkey foreign key (tenant_id, courier_id) references couriers (tenant_id, id)
    on delete cascade on update restrict,
  constraint api_calls_credential_is_known check (credential in ('api_key', 'service_token', 'access_token'))
);

create index api_calls_tenant_id_courier_id_request_id_idx on api_calls (tenant_id, courier_id, request_id);
create index api_calls_tenant_id_expires_at_idx on api_calls (tenant_id, expires_at);
-- Failures are few, and most searches are for them.
create index api_calls_failures on api_calls (tenant_id, courier_id, request_id) where status is null or status >= 400;

-- The parcels that a call named: keys of tracking numbers, and ids.
create table api_call_parcels (
  tenant_id uuid not null,
  request_id uuid not null,
  parcel_key text not null,
  courier_id uuid not null,

  constraint api_call_parcels_pkey primary key (tenant_id, request_id, parcel_key),
  constraint api_call_parcels_tenant_id_request_id_fkey foreign key (tenant_id, request_id) references api_calls (tenant_id, request_id)
    on delete cascade on update restrict,
  constraint api_call_parcels_key_is_short check (length(parcel_key) <= 64)
);

create index api_call_parcels_tenant_id_parcel_key_request_id_idx on api_call_parcels (tenant_id, parcel_key, request_id);

alter table api_calls enable row level security;
alter table api_calls force row level security;
create policy courier_scope on api_calls
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
alter table api_call_parcels enable row level security;
alter table api_call_parcels force row level security;
create policy courier_scope on api_call_parcels
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
grant select, insert, delete on api_calls, api_call_parcels to crossdock_app;
