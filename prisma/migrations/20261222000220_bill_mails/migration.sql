-- upgrade: rolling
-- Mails with a published bill (docs/decisions/0125). Servers of the previous release send none, and do not see this table.
create table bill_mails (
  tenant_id uuid not null,
  id uuid not null,
  bill_id uuid not null,
  courier_id uuid not null,
  recipient text not null,
  language text not null,
  status text not null default 'queued',
  attempt_count smallint not null default 0,
  last_error text,
  requested_by uuid not null,
  created_at timestamptz(3) not null default current_timestamp,
  settled_at timestamptz(3),
  primary key (tenant_id, id),
  constraint bill_mails_tenant_id_bill_id_fkey foreign key (tenant_id, bill_id)
    references bills (tenant_id, id) on delete cascade on update restrict,
  constraint status_is_known check (status in ('queued', 'sent', 'failed', 'skipped')),
  constraint language_is_known check (language in ('en', 'es'))
);

create index bill_mails_tenant_id_bill_id_created_at_idx on bill_mails (tenant_id, bill_id, created_at);
create index bill_mails_tenant_id_courier_id_created_at_idx on bill_mails (tenant_id, courier_id, created_at);
create index bill_mails_tenant_id_created_at_idx on bill_mails (tenant_id, created_at);
create index bill_mails_queued on bill_mails (tenant_id, created_at) where status = 'queued';

alter table bill_mails enable row level security;
alter table bill_mails force row level security;
create policy staff_scope on bill_mails
  using (tenant_id = app_tenant() and (select app_sees_all_couriers()))
  with check (tenant_id = app_tenant() and (select app_sees_all_couriers()));

grant select, insert, update, delete on bill_mails to crossdock_app;

-- What the metrics count.
create policy backlog_reads on bill_mails for select to crossdock_lookup using (true);
grant select (status, created_at) on bill_mails to crossdock_lookup;

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
     where status = 'pending') as deliveries,
    (select count(*) as paused from webhook_endpoints where paused_at is not null) as endpoints,
    (select count(*) as queued, min(created_at) as oldest from (
       select created_at from manifest_mails where status = 'queued'
       union all
       select created_at from account_mails where status = 'queued'
       union all
       select created_at from bill_mails where status = 'queued') as queued) as mails,
    (select count(*) as open, min(created_at) as oldest from customer_sync_runs
     where status in ('queued', 'running')) as runs
$$;
