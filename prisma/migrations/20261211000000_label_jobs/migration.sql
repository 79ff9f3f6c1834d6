-- upgrade: rolling
-- Labels that wait for the printer of a station (docs/decisions/0063).
create table label_jobs (
  tenant_id uuid not null,
  id uuid not null,
  print_id uuid not null,
  station text not null check (char_length(station) between 1 and 50),
  package_id uuid not null,
  copies smallint not null check (copies between 1 and 9),
  status text not null default 'waiting'
    check (status in ('waiting', 'claimed', 'sending', 'printed', 'failed', 'unconfirmed')),
  claim_id uuid,
  lease_until timestamptz(3),
  reason text,
  reprint_of uuid,
  requested_by uuid not null,
  created_at timestamptz(3) not null default current_timestamp,
  expires_at timestamptz(3) not null default current_timestamp + interval '12 hours',
  ended_at timestamptz(3),
  primary key (tenant_id, id),
  foreign key (tenant_id, package_id) references packages (tenant_id, id) on delete restrict on update restrict,
  check ((status = 'waiting') = (claim_id is null)),
  check ((claim_id is null) = (lease_until is null)),
  check ((status in ('printed', 'failed', 'unconfirmed')) = (ended_at is not null))
);

-- A repeated request finds its jobs here.
create unique index label_jobs_tenant_id_print_id_package_id_key on label_jobs (tenant_id, print_id, package_id);
create index label_jobs_tenant_id_station_id_idx on label_jobs (tenant_id, station, id);
create index label_jobs_tenant_id_created_at_idx on label_jobs (tenant_id, created_at);
-- What a bridge asks for each second.
create index label_jobs_open on label_jobs (tenant_id, station, expires_at, id) where status in ('waiting', 'claimed');
create index label_jobs_not_printed on label_jobs (tenant_id, id) where status in ('sending', 'failed', 'unconfirmed');

-- Only staff print labels.
alter table label_jobs enable row level security;
alter table label_jobs force row level security;
create policy staff_scope on label_jobs
  using (tenant_id = app_tenant() and (select app_sees_all_couriers()))
  with check (tenant_id = app_tenant() and (select app_sees_all_couriers()));

grant select, insert, update, delete on label_jobs to crossdock_app;

-- The status at this moment: what the clock has changed since the row was written.
create function label_job_status(p_status text, p_expires_at timestamptz, p_lease_until timestamptz) returns text
language sql stable parallel safe
return case
  when p_status = 'sending' and p_lease_until <= now() then 'unconfirmed'
  when p_status = 'claimed' and p_lease_until > now() then 'claimed'
  when p_status in ('waiting', 'claimed') then case when p_expires_at <= now() then 'expired' else 'waiting' end
  else p_status
end;

-- Label jobs of all tenants in numbers, for the operator's metrics. Ages are in seconds, and 0 if nothing waits.
create policy backlog_reads on label_jobs for select to crossdock_lookup using (true);
grant select (status, created_at, expires_at, lease_until, ended_at) on label_jobs to crossdock_lookup;

create function label_backlog(
  out waiting_labels bigint, out oldest_waiting_label_seconds double precision, out failed_labels bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  select
    open.waiting, greatest(0, coalesce(extract(epoch from now() - open.oldest), 0)), open.expired + failed.total
  from
    (select count(*) filter (where expires_at > now()) as waiting, min(created_at) filter (where expires_at > now()) as oldest,
       count(*) filter (where expires_at <= now() and expires_at > now() - interval '1 hour') as expired
     from label_jobs where status in ('waiting', 'claimed')) as open,
    (select count(*) as total from label_jobs
     where status in ('sending', 'failed', 'unconfirmed')
       and coalesce(ended_at, lease_until) between now() - interval '1 hour' and now()) as failed
$$;

grant create on schema public to crossdock_lookup;
alter function label_backlog() owner to crossdock_lookup;
revoke create on schema public from crossdock_lookup;
revoke all on function label_backlog() from public;
grant execute on function label_backlog() to crossdock_app;
