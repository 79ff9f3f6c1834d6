-- upgrade: rolling
-- Tracking pages for the customers of couriers (docs/decisions/0155). Servers of the previous release know neither.
create table tracking_settings (
  tenant_id uuid not null,
  courier_id uuid not null,
  is_enabled boolean not null default false,
  is_search_enabled boolean not null default false,
  shows_amount_due boolean not null default false,
  currency text,
  time_zone text,
  transit_days integer,
  note_en text,
  note_es text,
  updated_at timestamptz(3) not null default current_timestamp,
  primary key (tenant_id, courier_id),
  constraint tracking_settings_tenant_id_courier_id_fkey foreign key (tenant_id, courier_id) references couriers (tenant_id, id)
    on delete cascade on update restrict,
  constraint tracking_currency_is_code check (currency ~ '^[A-Z]{3}$'),
  constraint tracking_transit_is_bounded check (transit_days between 0 and 60),
  constraint tracking_texts_are_short check (length(time_zone) <= 64 and length(note_en) <= 500 and length(note_es) <= 500)
);

-- A link belongs to a package and the customer that it had when the link was made. The page compares both, so a link ends when the customer changes.
-- One per courier: after the package has moved to another one, neither sees the link of the other.
create table tracking_links (
  tenant_id uuid not null,
  id uuid not null,
  courier_id uuid not null,
  package_id uuid not null,
  customer_id uuid not null,
  user_code text not null,
  key_hash text not null,
  key_cipher text not null,
  amount_due numeric(10, 2),
  created_at timestamptz(3) not null default current_timestamp,
  primary key (tenant_id, id),
  constraint tracking_links_tenant_id_courier_id_fkey foreign key (tenant_id, courier_id) references couriers (tenant_id, id)
    on delete cascade on update restrict,
  constraint tracking_links_tenant_id_package_id_fkey foreign key (tenant_id, package_id) references packages (tenant_id, id)
    on delete cascade on update restrict,
  constraint tracking_links_tenant_id_customer_id_fkey foreign key (tenant_id, customer_id) references customers (tenant_id, id)
    on delete cascade on update restrict,
  constraint amount_due_is_not_negative check (amount_due >= 0)
);
create unique index tracking_links_tenant_id_key_hash_key on tracking_links (tenant_id, key_hash);
create unique index tracking_links_tenant_id_package_id_courier_id_key on tracking_links (tenant_id, package_id, courier_id);
create index tracking_links_tenant_id_courier_id_idx on tracking_links (tenant_id, courier_id);
create index tracking_links_tenant_id_customer_id_idx on tracking_links (tenant_id, customer_id);

alter table tracking_settings enable row level security;
alter table tracking_settings force row level security;
create policy courier_scope on tracking_settings
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
alter table tracking_links enable row level security;
alter table tracking_links force row level security;
create policy courier_scope on tracking_links
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
grant select, insert, update, delete on tracking_settings, tracking_links to crossdock_app;
