-- upgrade: rolling
-- Claims of couriers to parcels without an owner (docs/decisions/0120). A claim has no reference to a package until staff approve it: storing it
-- must not depend on whether the parcel exists.
create table parcel_claims (
  tenant_id uuid not null,
  id uuid not null,
  courier_id uuid not null,
  customer_id uuid not null,
  user_code text not null,
  tracking_number text not null,
  tracking_key text not null,
  status text not null default 'open' check (status in ('open', 'approved', 'refused')),
  reason text,
  package_id uuid,
  submitted_by uuid not null,
  created_at timestamptz(3) not null default current_timestamp,
  decided_by uuid,
  decided_at timestamptz(3),
  primary key (tenant_id, id),
  constraint parcel_claims_tenant_id_courier_id_fkey foreign key (tenant_id, courier_id)
    references couriers (tenant_id, id) on delete cascade on update restrict,
  constraint decisions_are_whole check ((status = 'open') = (decided_at is null) and (status = 'open') = (decided_by is null)
    and (status = 'approved') = (package_id is not null))
);

-- A courier claims a number once. A further claim replaces the customer.
create unique index parcel_claims_one_open on parcel_claims (tenant_id, courier_id, tracking_key) where status = 'open';
create index parcel_claims_open_keys on parcel_claims (tenant_id, tracking_key) where status = 'open';
create index parcel_claims_tenant_id_courier_id_id_idx on parcel_claims (tenant_id, courier_id, id);
create index parcel_claims_tenant_id_status_id_idx on parcel_claims (tenant_id, status, id);
create index parcel_claims_tenant_id_created_at_idx on parcel_claims (tenant_id, created_at);

alter table parcel_claims enable row level security;
alter table parcel_claims force row level security;
create policy courier_scope on parcel_claims
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));

grant select, insert, update, delete on parcel_claims to crossdock_app;

-- A pre-alert whose parcel staff gave to another claimant. Later scans of the parcel do not flag it again.
alter table prealerts add column closed_at timestamptz(3);

-- Whether another courier claims a package of the calling courier, or has a flagged pre-alert of it. Couriers do not see the rows of others.
create policy lookup_reads on parcel_claims for select to crossdock_lookup using (true);
grant select (tenant_id, courier_id, tracking_key, status) on parcel_claims to crossdock_lookup;

create function package_is_disputed(p_package uuid, p_keys text[]) returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
  select exists (
    select from packages p
    where p.tenant_id = app_tenant() and p.id = p_package and p.courier_id = app_courier() and p.tracking_key = any(p_keys)
      and (exists (select from parcel_claims c where c.tenant_id = p.tenant_id and c.tracking_key = any(p_keys)
          and c.status = 'open' and c.courier_id <> p.courier_id)
        or exists (select from prealerts a where a.tenant_id = p.tenant_id and a.tracking_key = any(p_keys)
          and a.status = 'flagged' and a.courier_id <> p.courier_id)))
$$;

grant create on schema public to crossdock_lookup;
alter function package_is_disputed(uuid, text[]) owner to crossdock_lookup;
revoke create on schema public from crossdock_lookup;

revoke all on function package_is_disputed(uuid, text[]) from public;
grant execute on function package_is_disputed(uuid, text[]) to crossdock_app;
