-- How much of the work after the commit waits, over all tenants, for the operator's metrics. Row-level security binds
-- the service, so that a function of the lookup role counts; it tells numbers and ages and no row.

create policy backlog_reads on webhook_deliveries for select to crossdock_lookup using (true);
create policy backlog_reads on webhook_endpoints for select to crossdock_lookup using (true);
create policy backlog_reads on manifest_mails for select to crossdock_lookup using (true);
create policy backlog_reads on customer_sync_runs for select to crossdock_lookup using (true);
grant select (status, next_attempt_at) on webhook_deliveries to crossdock_lookup;
grant select (paused_at) on webhook_endpoints to crossdock_lookup;
grant select (status, created_at) on manifest_mails to crossdock_lookup;
grant select (status, created_at) on customer_sync_runs to crossdock_lookup;

-- What waits to be mailed, the oldest first: without it a count would read every mail that was ever sent.
create index manifest_mails_queued on manifest_mails (tenant_id, created_at) where status = 'queued';

-- Ages are in seconds; 0 when nothing waits.
create function outbound_backlog(
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
    (select count(*) as queued, min(created_at) as oldest from manifest_mails where status = 'queued') as mails,
    (select count(*) as open, min(created_at) as oldest from customer_sync_runs
     where status in ('queued', 'running')) as runs
$$;

grant create on schema public to crossdock_lookup;
alter function outbound_backlog() owner to crossdock_lookup;
revoke create on schema public from crossdock_lookup;

revoke all on function outbound_backlog() from public;
grant execute on function outbound_backlog() to crossdock_app;
