-- upgrade: rolling
-- reviewed: function tenant_of_host(text) changed: without sandboxes it returns what it returned. The previous release makes none.
-- reviewed: function outbound_backlog() changed: it leaves out sandboxes, and the previous release makes none.
-- reviewed: function label_backlog() changed: it leaves out sandboxes, and the previous release makes none.
-- Sandboxes of couriers (docs/decisions/0149): each is a tenant of its own, so that no filter, total or credential of the live tenant reaches it.

-- The live tenant and courier of a sandbox. Without a foreign key: what is stored here is a fact of the creation.
alter table tenants
  add column sandbox_of_tenant_id uuid,
  add column sandbox_of_courier_id uuid,
  add constraint sandbox_has_a_courier check ((sandbox_of_tenant_id is null) = (sandbox_of_courier_id is null)) not valid;

-- The sandboxes of a live tenant. `id` is the tenant of the sandbox.
create table sandboxes (
  tenant_id uuid not null,
  id uuid not null,
  courier_id uuid not null,
  -- The part of the path that selects the sandbox.
  path_key text not null,
  -- The courier of the sandbox.
  sandbox_courier_id uuid not null,
  created_by uuid not null,
  created_at timestamptz(3) not null default current_timestamp,
  ended_by uuid,
  ended_at timestamptz(3),

  constraint sandboxes_pkey primary key (tenant_id, id),
  constraint sandboxes_tenant_id_courier_id_fkey foreign key (tenant_id, courier_id) references couriers (tenant_id, id)
    on delete cascade on update restrict,
  constraint sandboxes_ended_by_somebody check ((ended_at is null) = (ended_by is null))
);

create index sandboxes_tenant_id_courier_id_id_idx on sandboxes (tenant_id, courier_id, id);
create unique index sandboxes_one_open on sandboxes (tenant_id, courier_id) where ended_at is null;

alter table sandboxes enable row level security;
alter table sandboxes force row level security;
create policy courier_scope on sandboxes
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
grant select, insert, update on sandboxes to crossdock_app;

-- Opening and closing ----------------------------------------------------------------------------------
-- The service cannot write tenants and hosts. These two functions add those of a sandbox, and remove its host, for the tenant and the
-- courier of the scope.

create policy opens_sandboxes on tenants for insert to crossdock_lookup with check (sandbox_of_tenant_id is not null);
create policy opens_sandboxes on tenant_hosts for insert to crossdock_lookup with check (host like 'sandbox/%');
create policy closes_sandboxes on tenant_hosts for delete to crossdock_lookup using (host like 'sandbox/%');
grant insert on tenants to crossdock_lookup;
grant insert, delete on tenant_hosts to crossdock_lookup;

create function open_sandbox(p_sandbox uuid, p_key text, p_courier uuid) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  live text;
begin
  select t.name into live from tenants t where t.id = app_tenant() and t.sandbox_of_tenant_id is null
    and (app_sees_all_couriers() or app_courier() = p_courier);
  if not found then
    raise exception 'a sandbox needs the scope of its courier' using errcode = 'insufficient_privilege';
  end if;
  -- It would stay behind. The code of the error becomes a 503.
  if exists (select from installation.tenant_cells c where c.tenant_id = app_tenant() and c.role = 'source') then
    raise exception 'the tenant is being moved' using errcode = 'cannot_connect_now';
  end if;
  insert into tenants (id, slug, name, sandbox_of_tenant_id, sandbox_of_courier_id)
    values (p_sandbox, 'sandbox-' || p_key, 'Sandbox of ' || live, app_tenant(), p_courier);
  insert into tenant_hosts (tenant_id, host) values (p_sandbox, 'sandbox/' || p_key);
end $$;

create function close_sandbox(p_sandbox uuid) returns void
language sql security definer set search_path = public, pg_temp as $$
  delete from tenant_hosts h using tenants t
  where h.tenant_id = p_sandbox and t.id = p_sandbox and t.sandbox_of_tenant_id = app_tenant()
    and (app_sees_all_couriers() or t.sandbox_of_courier_id = app_courier())
$$;

-- A host that no tenant has belongs to the only tenant. Sandboxes do not count.
create or replace function tenant_of_host(p_host text) returns uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(
    (select tenant_id from tenant_hosts where host = p_host),
    (select tenant_id from tenant_hosts where host = '*'),
    (select id from tenants where sandbox_of_tenant_id is null
       and (select count(*) from tenants where sandbox_of_tenant_id is null) = 1))
$$;

-- The tenants in which something can happen: all but the sandboxes that ended more than a day ago. Until then, a job may have to finish what it
-- began. Jobs that run every few minutes visit these, so that their work does not grow with each sandbox that there ever was.
create policy lookup_reads on sandboxes for select to crossdock_lookup using (true);
grant select (id, ended_at) on sandboxes to crossdock_lookup;
create function open_tenants() returns setof uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select listed.id from all_tenants() as listed (id)
  where not exists (select from sandboxes s where s.id = listed.id and s.ended_at < now() - interval '1 day')
  order by listed.id
$$;

-- How many tenants share the connections. Sandboxes do not count: one of them must not take a fifth from its only live tenant.
create function count_live_tenants() returns integer
language sql stable security definer set search_path = public, pg_temp as $$
  select count(*)::int from all_tenants() as listed (id) join tenants t on t.id = listed.id where t.sandbox_of_tenant_id is null
$$;

-- The rows of a sandbox --------------------------------------------------------------------------------
-- These functions have the rights of their caller. They enter the scope of the sandbox, and return to that of the caller.

-- Copies the carriers, airlines, rates, time zone and currency of the live tenant, and adds what `p` has: a warehouse, the courier with its
-- credentials, its customers, and the user that plays the staff.
create function fill_sandbox(p_sandbox uuid, p_courier uuid, p jsonb) returns void
language plpgsql as $$
declare
  live uuid := app_tenant();
  scope text := current_setting('app.courier_id', true);
  source couriers;
  carrier_names text[];
  live_airlines airlines[];
  live_tiers rate_tiers[];
  live_settings tenant_settings;
  former sandboxes;
  quotas courier_quotas[];
  shares principal_quotas[];
  allowances write_allowances[];
begin
  select * into strict source from couriers c where c.tenant_id = live and c.id = p_courier;
  carrier_names := array(select c.name from carriers c where c.tenant_id = live order by c.name limit 500);
  live_airlines := array(select a from airlines a where a.tenant_id = live order by a.prefix limit 500);
  live_tiers := array(select t from rate_tiers t where t.tenant_id = live and t.courier_id is not distinct from (
    select own.courier_id from rate_tiers own where own.tenant_id = live and own.courier_id = p_courier limit 1)
    order by t.start_weight_lb, t.id limit 500);
  select * into live_settings from tenant_settings s where s.tenant_id = live;

  -- What the sandbox before has used up is used up in this one too: otherwise each new one would begin with all quotas anew.
  select * into former from sandboxes s where s.tenant_id = live and s.courier_id = p_courier and s.ended_at is not null
    order by s.ended_at desc limit 1;
  if found then
    perform set_config('app.tenant_id', former.id::text, true), set_config('app.courier_id', 'all', true);
    quotas := array(select q from courier_quotas q where q.tenant_id = former.id and q.courier_id = former.sandbox_courier_id);
    shares := array(select q from principal_quotas q where q.tenant_id = former.id and q.principal_id = former.sandbox_courier_id);
    allowances := array(select w from write_allowances w where w.tenant_id = former.id and w.principal_id = former.sandbox_courier_id);
  end if;

  perform set_config('app.tenant_id', p_sandbox::text, true), set_config('app.courier_id', 'all', true);
  if live_settings.tenant_id is not null then
    insert into tenant_settings (tenant_id, time_zone, currency)
      values (p_sandbox, live_settings.time_zone, live_settings.currency);
  end if;
  insert into warehouses (tenant_id, id, name, is_primary)
    values (p_sandbox, (p ->> 'warehouse_id')::uuid, 'Sandbox warehouse', true);
  insert into carriers (tenant_id, id, name) select p_sandbox, gen_random_uuid(), name from unnest(carrier_names) as name;
  insert into airlines (tenant_id, prefix, name) select p_sandbox, a.prefix, a.name from unnest(live_airlines) as a;
  insert into rate_tiers (tenant_id, start_weight_lb, end_weight_lb, fee_usd)
    select p_sandbox, t.start_weight_lb, t.end_weight_lb, t.fee_usd from unnest(live_tiers) as t
    order by t.start_weight_lb, t.id;
  insert into couriers (tenant_id, id, code, name, company_name, air_freight_rate, api_key_hash, api_key_cipher)
    values (p_sandbox, (p ->> 'courier_id')::uuid, source.code, source.name, source.company_name, source.air_freight_rate,
      p ->> 'api_key_hash', p ->> 'api_key_cipher');
  insert into users (tenant_id, id, username, full_name, role, password_hash)
    values (p_sandbox, (p ->> 'user_id')::uuid, 'sandbox', 'Sandbox', 'admin', p ->> 'password_hash');
  insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name)
    select p_sandbox, c.id, (p ->> 'courier_id')::uuid, source.code || '-' || c.code, c.first_name, c.last_name
    from jsonb_to_recordset(p -> 'customers') as c (id uuid, code text, first_name text, last_name text);
  insert into service_tokens (tenant_id, id, courier_id, name, scopes, token_hash, digest_cipher, hint, created_by, expires_at)
    select p_sandbox, t.id, (p ->> 'courier_id')::uuid, t.name, t.scopes, t.token_hash, t.digest_cipher, t.hint,
      (p ->> 'user_id')::uuid, now() + make_interval(days => t.days)
    from jsonb_to_record(p -> 'token') as t (id uuid, name text, scopes text[], token_hash text, digest_cipher text, hint text, days int);
  insert into courier_quotas (tenant_id, courier_id, kind, period_start, used)
    select p_sandbox, (p ->> 'courier_id')::uuid, q.kind, q.period_start, q.used from unnest(quotas) as q;
  insert into principal_quotas (tenant_id, principal_kind, principal_id, courier_id, kind, period_start, used)
    select p_sandbox, q.principal_kind, (p ->> 'courier_id')::uuid, (p ->> 'courier_id')::uuid, q.kind, q.period_start, q.used
    from unnest(shares) as q;
  insert into write_allowances (tenant_id, principal_kind, principal_id, courier_id, used, settled_at)
    select p_sandbox, w.principal_kind, (p ->> 'courier_id')::uuid, (p ->> 'courier_id')::uuid, w.used, w.settled_at
    from unnest(allowances) as w;
  perform set_config('app.tenant_id', live::text, true), set_config('app.courier_id', scope, true);
end $$;

-- Ends every credential of a sandbox, and its webhooks. Nothing encrypted stays: nobody needs it any more.
create function disable_sandbox(p_sandbox uuid) returns void
language plpgsql as $$
declare
  live uuid := app_tenant();
  scope text := current_setting('app.courier_id', true);
begin
  perform set_config('app.tenant_id', p_sandbox::text, true), set_config('app.courier_id', 'all', true);
  update couriers set is_active = false, api_key_hash = null, api_key_cipher = null, api_token_cipher = null,
    webhook_secret_cipher = null, webhook_previous_secret_cipher = null, webhook_secret_rotated_at = null, updated_at = now() where tenant_id = p_sandbox;
  delete from service_tokens where tenant_id = p_sandbox;
  delete from idempotency_keys where tenant_id = p_sandbox;
  update users set is_active = false, token_version = token_version + 1, updated_at = now() where tenant_id = p_sandbox;
  perform set_config('app.tenant_id', live::text, true), set_config('app.courier_id', scope, true);
end $$;

-- Metrics ----------------------------------------------------------------------------------------------
-- What waits in sandboxes is nobody's problem, so the gauges of operators leave it out.

grant select (tenant_id) on webhook_deliveries, webhook_endpoints, manifest_mails, account_mails, bill_mails,
  customer_sync_runs, label_jobs to crossdock_lookup;

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
       select tenant_id, created_at from bill_mails where status = 'queued') as queued
     where not exists (select from tenants t where t.id = tenant_id and t.sandbox_of_tenant_id is not null)) as mails,
    (select count(*) as open, min(created_at) as oldest from customer_sync_runs
     where status in ('queued', 'running') and not exists (select from tenants t where t.id = tenant_id and t.sandbox_of_tenant_id is not null)) as runs
$$;

create or replace function label_backlog(
  out waiting_labels bigint, out oldest_waiting_label_seconds double precision, out failed_labels bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  select
    open.waiting, greatest(0, coalesce(extract(epoch from now() - open.oldest), 0)), open.expired + failed.total
  from
    (select count(*) filter (where expires_at > now()) as waiting, min(created_at) filter (where expires_at > now()) as oldest,
       count(*) filter (where expires_at <= now() and expires_at > now() - interval '1 hour') as expired
     from label_jobs where status in ('waiting', 'claimed') and not exists (select from tenants t where t.id = tenant_id and t.sandbox_of_tenant_id is not null)) as open,
    (select count(*) as total from label_jobs
     where status in ('sending', 'failed', 'unconfirmed')
       and coalesce(ended_at, lease_until) between now() - interval '1 hour' and now()
       and not exists (select from tenants t where t.id = tenant_id and t.sandbox_of_tenant_id is not null)) as failed
$$;

grant create on schema public to crossdock_lookup;
alter function open_sandbox(uuid, text, uuid) owner to crossdock_lookup;
alter function close_sandbox(uuid) owner to crossdock_lookup;
alter function count_live_tenants() owner to crossdock_lookup;
alter function open_tenants() owner to crossdock_lookup;
revoke create on schema public from crossdock_lookup;
revoke all on function open_sandbox(uuid, text, uuid), close_sandbox(uuid), count_live_tenants(), open_tenants() from public;
grant execute on function open_sandbox(uuid, text, uuid), close_sandbox(uuid), count_live_tenants(), open_tenants() to crossdock_app;
