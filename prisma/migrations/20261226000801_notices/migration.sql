-- upgrade: rolling
-- reviewed: function outbound_backlog() changed: it counts mails of a new table, which servers of the previous release do not write.
-- reviewed: constraint events.type_is_known changed: it accepts all that the one that it replaces accepts.
-- Notices for the customers of couriers (docs/decisions/0156). Servers of the previous release know neither.
create table notice_settings (
  tenant_id uuid not null,
  courier_id uuid not null,
  is_enabled boolean not null default false,
  sends_mail boolean not null default true,
  states text[] not null default array['received', 'shipped', 'delivered'],
  language text not null default 'en',
  quiet_from text,
  quiet_to text,
  time_zone text,
  reply_to text,
  signature text,
  last_sequence bigint not null default 0,
  told_since timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null default current_timestamp,
  primary key (tenant_id, courier_id),
  constraint notice_settings_tenant_id_courier_id_fkey foreign key (tenant_id, courier_id) references couriers (tenant_id, id)
    on delete cascade on update restrict,
  constraint notice_states_are_known check (states <@ array['received', 'shipped', 'in_transit', 'delivered', 'on_hold', 'customs_hold',
    'returned', 'lost']),
  constraint notice_language_is_known check (language in ('en', 'es')),
  constraint quiet_hours_are_whole check ((quiet_from is null) = (quiet_to is null)),
  constraint quiet_hours_are_times check (quiet_from ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$' and quiet_to ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'
    and quiet_from <> quiet_to),
  constraint notice_texts_are_short check (length(time_zone) <= 64 and length(reply_to) <= 254 and length(signature) <= 300)
);

-- What a customer is told about a parcel: once per status.
create table notices (
  tenant_id uuid not null,
  id uuid not null,
  courier_id uuid not null,
  customer_id uuid not null,
  package_id uuid not null,
  tracking_number text not null,
  state text not null,
  sequence bigint not null,
  status text not null,
  reason text,
  due_at timestamptz(3),
  mail_id uuid,
  event_id uuid,
  created_at timestamptz(3) not null default current_timestamp,
  settled_at timestamptz(3),
  primary key (tenant_id, id),
  constraint notices_tenant_id_courier_id_fkey foreign key (tenant_id, courier_id) references couriers (tenant_id, id)
    on delete cascade on update restrict,
  constraint notices_tenant_id_customer_id_fkey foreign key (tenant_id, customer_id) references customers (tenant_id, id)
    on delete cascade on update restrict,
  constraint notice_status_is_known check (status in ('held', 'told', 'opted_out', 'no_address', 'webhook_only', 'superseded', 'cancelled')),
  constraint held_notices_are_due check ((status = 'held') = (due_at is not null)),
  constraint notice_reason_is_short check (length(reason) <= 100)
);
-- The customer comes first: the index also finds what is held of a customer, and the notices of one that is deleted.
create unique index notices_tenant_id_customer_id_package_id_state_key on notices (tenant_id, customer_id, package_id, state);
create index notices_tenant_id_courier_id_created_at_id_idx on notices (tenant_id, courier_id, created_at, id);
create index notices_tenant_id_created_at_id_idx on notices (tenant_id, created_at, id);
create index notices_tenant_id_package_id_idx on notices (tenant_id, package_id);
create index notices_tenant_id_mail_id_idx on notices (tenant_id, mail_id);
create index notices_held on notices (tenant_id, courier_id, due_at) where status = 'held';

-- The mails to customers: each for all that was held. The key of its link is stored as a hash.
create table notice_mails (
  tenant_id uuid not null,
  id uuid not null,
  courier_id uuid not null,
  customer_id uuid not null,
  recipient text not null,
  address_key text not null,
  language text not null,
  key_hash text,
  status text not null default 'queued',
  attempt_count smallint not null default 0,
  last_error text,
  created_at timestamptz(3) not null default current_timestamp,
  settled_at timestamptz(3),
  primary key (tenant_id, id),
  constraint notice_mails_tenant_id_courier_id_fkey foreign key (tenant_id, courier_id) references couriers (tenant_id, id)
    on delete cascade on update restrict,
  constraint notice_mails_tenant_id_customer_id_fkey foreign key (tenant_id, customer_id) references customers (tenant_id, id)
    on delete cascade on update restrict,
  constraint notice_mail_status_is_known check (status in ('queued', 'sent', 'failed', 'skipped')),
  constraint notice_mail_language_is_known check (language in ('en', 'es'))
);
create unique index notice_mails_tenant_id_key_hash_key on notice_mails (tenant_id, key_hash);
create index notice_mails_tenant_id_courier_id_address_key_created_at_idx
  on notice_mails (tenant_id, courier_id, address_key, created_at);
create index notice_mails_tenant_id_customer_id_idx on notice_mails (tenant_id, customer_id);
create index notice_mails_tenant_id_created_at_idx on notice_mails (tenant_id, created_at);
create index notice_mails_failed on notice_mails (tenant_id, courier_id, settled_at) where status = 'failed';

-- What the owner of an address has chosen, per courier. The address is stored as a hash, and stays when its customer is deleted.
create table notice_choices (
  tenant_id uuid not null,
  courier_id uuid not null,
  address_key text not null,
  is_opted_out boolean not null,
  changed_at timestamptz(3) not null default current_timestamp,
  primary key (tenant_id, courier_id, address_key),
  constraint notice_choices_tenant_id_courier_id_fkey foreign key (tenant_id, courier_id) references couriers (tenant_id, id)
    on delete cascade on update restrict,
  constraint notice_address_key_is_hash check (address_key ~ '^[0-9a-f]{64}$')
);

alter table notice_settings enable row level security;
alter table notice_settings force row level security;
create policy courier_scope on notice_settings
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
alter table notices enable row level security;
alter table notices force row level security;
create policy courier_scope on notices
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
alter table notice_mails enable row level security;
alter table notice_mails force row level security;
create policy courier_scope on notice_mails
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
alter table notice_choices enable row level security;
alter table notice_choices force row level security;
create policy courier_scope on notice_choices
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
grant select, insert, update, delete on notice_settings, notices, notice_mails, notice_choices to crossdock_app;

-- Couriers can choose an event for their own messages. Validated by the next migration, so that this one holds its locks for a moment only.
alter table events drop constraint type_is_known;
alter table events add constraint type_is_known check (type in ('package.created', 'package.status_changed', 'package.updated',
  'prealert.received', 'prealert.flagged', 'prealert.claimed', 'prealert.reopened', 'prealert.missing',
  'bill.published', 'bill.paid', 'bill.reopened', 'bill.overdue', 'manifest.departed', 'manifest.arrived', 'consignee.notice',
  'webhook.test')) not valid;

-- The backlog counts these mails too.
create or replace function outbound_backlog(
  out pending_deliveries bigint, out oldest_due_delivery_seconds double precision, out paused_endpoints bigint,
  out queued_mails bigint, out oldest_queued_mail_seconds double precision,
  out open_syncs bigint, out oldest_open_sync_seconds double precision)
language sql stable security definer set search_path = public, pg_temp as $$
  select
    deliveries.pending, greatest(0, coalesce(extract(epoch from now() - deliveries.oldest), 0)),
    endpoints.paused,
    mails.queued, greatest(0, coalesce(extract(epoch from now() - mails.oldest), 0)),
    runs.open, greatest(0, coalesce(extract(epoch from now() - runs.oldest), 0))
  from
    (select count(*) as pending, min(next_attempt_at) as oldest from webhook_deliveries
     where status = 'pending' and not exists (select from tenants t where t.id = tenant_id and t.sandbox_of_tenant_id is not null)) as deliveries,
    (select count(*) as paused from webhook_endpoints
     where paused_at is not null and not exists (select from tenants t where t.id = tenant_id and t.sandbox_of_tenant_id is not null)) as endpoints,
    (select count(*) as queued, min(created_at) as oldest from (
       select tenant_id, created_at from manifest_mails where status = 'queued'
       union all
       select tenant_id, created_at from account_mails where status = 'queued'
       union all
       select tenant_id, created_at from bill_mails where status = 'queued'
       union all
       select tenant_id, created_at from notice_mails where status = 'queued') as queued
     where not exists (select from tenants t where t.id = tenant_id and t.sandbox_of_tenant_id is not null)) as mails,
    (select count(*) as open, min(created_at) as oldest from customer_sync_runs
     where status in ('queued', 'running') and not exists (select from tenants t where t.id = tenant_id and t.sandbox_of_tenant_id is not null)) as runs
$$;
