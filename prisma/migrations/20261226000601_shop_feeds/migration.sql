-- upgrade: rolling
-- reviewed: constraint feeds.feed_kind_is_known changed: it accepts all that the one that it replaces accepts.
-- reviewed: constraint feeds.feeds_tenant_id_customer_id_fkey added: servers of the previous release have no feeds.
-- reviewed: constraint feeds.customer_is_of_a_shop added: servers of the previous release have no feeds.
-- Feeds of shops, whose orders become pre-alerts (docs/decisions/0152). Servers of the previous release have no feeds.
alter table feeds drop constraint feed_kind_is_known;
alter table feeds add constraint feed_kind_is_known check (kind in ('easypost', 'shippo', 'shopify', 'woocommerce')) not valid;

-- The customer of orders that name none. Validated by the next migration, so that this one holds its locks for a moment only.
alter table feeds add column customer_id uuid;
alter table feeds add constraint feeds_tenant_id_customer_id_fkey foreign key (tenant_id, customer_id) references customers (tenant_id, id)
  on delete set null (customer_id) on update restrict not valid;
alter table feeds add constraint customer_is_of_a_shop check (customer_id is null or kind in ('shopify', 'woocommerce')) not valid;

-- The parcels of orders that could not be announced. Names and addresses are not kept.
create table feed_refusals (
  tenant_id uuid not null,
  id uuid not null,
  feed_id uuid not null,
  courier_id uuid not null,
  refusal_key text not null,
  reference text,
  tracking_number text,
  reason text not null,
  refused_at timestamptz(3) not null default current_timestamp,
  primary key (tenant_id, id),
  constraint feed_refusals_tenant_id_feed_id_fkey foreign key (tenant_id, feed_id) references feeds (tenant_id, id)
    on delete cascade on update restrict,
  constraint refusal_reason_is_known check (reason in ('no_user_code', 'unknown_user_code', 'several_customers', 'invalid_tracking_number',
    'other_customer', 'too_many_numbers')),
  constraint refusal_texts_are_short check (length(refusal_key) <= 64 and length(reference) <= 255 and length(tracking_number) <= 255)
);
create unique index feed_refusals_tenant_id_feed_id_refusal_key_key on feed_refusals (tenant_id, feed_id, refusal_key);
create index feed_refusals_tenant_id_courier_id_refused_at_id_idx on feed_refusals (tenant_id, courier_id, refused_at, id);
create index feed_refusals_tenant_id_refused_at_id_idx on feed_refusals (tenant_id, refused_at, id);

alter table feed_refusals enable row level security;
alter table feed_refusals force row level security;
create policy courier_scope on feed_refusals
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
grant select, insert, update, delete on feed_refusals to crossdock_app;
