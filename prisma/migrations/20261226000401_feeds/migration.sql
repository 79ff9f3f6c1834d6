-- upgrade: rolling
-- Places that services for tracking send the events of carriers to (docs/decisions/0150). Servers of the previous release know neither.
create table feeds (
  tenant_id uuid not null,
  id uuid not null,
  courier_id uuid not null,
  kind text not null,
  name text not null,
  is_active boolean not null default true,
  secret_cipher text not null,
  hint text not null,
  previous_cipher text,
  previous_hint text,
  previous_ends_at timestamptz(3),
  created_by uuid not null,
  created_at timestamptz(3) not null default current_timestamp,
  rotated_at timestamptz(3),
  last_received_at timestamptz(3),
  primary key (tenant_id, id),
  constraint feeds_tenant_id_courier_id_fkey foreign key (tenant_id, courier_id) references couriers (tenant_id, id)
    on delete cascade on update restrict,
  constraint feed_kind_is_known check (kind in ('easypost', 'shippo')),
  constraint feed_name_is_short check (length(name) between 1 and 100),
  constraint previous_feed_secret_is_whole check ((previous_cipher is null) = (previous_ends_at is null)
    and (previous_cipher is null) = (previous_hint is null))
);
create index feeds_tenant_id_courier_id_created_at_id_idx on feeds (tenant_id, courier_id, created_at, id);
create index feeds_tenant_id_created_at_id_idx on feeds (tenant_id, created_at, id);
-- Half full, so that writing last_received_at stays on the page (a HOT update).
alter table feeds set (fillfactor = 50);

-- The events that have arrived, by their id or the hash of their bytes. Their content is not kept.
create table feed_events (
  tenant_id uuid not null,
  feed_id uuid not null,
  event_key text not null,
  courier_id uuid not null,
  received_at timestamptz(3) not null default current_timestamp,
  primary key (tenant_id, feed_id, event_key),
  constraint feed_events_tenant_id_feed_id_fkey foreign key (tenant_id, feed_id) references feeds (tenant_id, id)
    on delete cascade on update restrict,
  constraint event_key_is_short check (length(event_key) between 1 and 64)
);
create index feed_events_tenant_id_received_at_idx on feed_events (tenant_id, received_at);

-- The latest that a carrier has said about a parcel, under each key that a row of the parcel can have.
create table carrier_states (
  tenant_id uuid not null,
  courier_id uuid not null,
  tracking_key text not null,
  status text not null,
  carrier text,
  corrected_carrier text,
  code text,
  remark text,
  is_action_needed boolean not null default false,
  occurred_at timestamptz(3),
  settled_at timestamptz(3),
  updated_at timestamptz(3) not null default current_timestamp,
  primary key (tenant_id, courier_id, tracking_key),
  constraint carrier_states_tenant_id_courier_id_fkey foreign key (tenant_id, courier_id) references couriers (tenant_id, id)
    on delete cascade on update restrict,
  constraint carrier_status_is_known check (status in ('announced', 'moving', 'delivered_at_warehouse_door', 'problem', 'silent')),
  constraint carrier_texts_are_short check (length(tracking_key) <= 255 and length(carrier) <= 100 and length(corrected_carrier) <= 100
    and length(code) <= 100 and length(remark) <= 500)
);
-- What is delivered and may not have been scanned. A job settles what was, so that the list does not grow with all that was ever delivered.
create index carrier_states_delivered on carrier_states (tenant_id, courier_id, tracking_key)
  where status = 'delivered_at_warehouse_door' and settled_at is null;
create index carrier_states_tenant_id_updated_at_idx on carrier_states (tenant_id, updated_at);

alter table feeds enable row level security;
alter table feeds force row level security;
create policy courier_scope on feeds
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
alter table feed_events enable row level security;
alter table feed_events force row level security;
create policy courier_scope on feed_events
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
alter table carrier_states enable row level security;
alter table carrier_states force row level security;
create policy courier_scope on carrier_states
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
grant select, insert, update, delete on feeds, carrier_states to crossdock_app;
grant select, insert, delete on feed_events to crossdock_app;
