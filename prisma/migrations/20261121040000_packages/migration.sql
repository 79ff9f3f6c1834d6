-- CreateTable
CREATE TABLE "package_tallies" (
    "tenant_id" UUID NOT NULL,
    "courier_id" UUID NOT NULL,
    "slot" SMALLINT NOT NULL,
    "total" INTEGER NOT NULL,
    "weight_lb" DECIMAL(14,3) NOT NULL,

    CONSTRAINT "package_tallies_pkey" PRIMARY KEY ("tenant_id","courier_id","slot")
);

-- CreateTable
CREATE TABLE "package_syncs" (
    "tenant_id" UUID NOT NULL,
    "package_id" UUID NOT NULL,
    "courier_id" UUID NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'queued',
    "job_id" UUID NOT NULL,
    "dispatch_id" UUID,
    "requested_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "package_syncs_pkey" PRIMARY KEY ("tenant_id","package_id")
);

-- CreateIndex
CREATE INDEX "package_syncs_tenant_id_dispatch_id_status_idx" ON "package_syncs"("tenant_id", "dispatch_id", "status");

-- AddForeignKey
ALTER TABLE "package_syncs" ADD CONSTRAINT "package_syncs_tenant_id_package_id_fkey" FOREIGN KEY ("tenant_id", "package_id") REFERENCES "packages"("tenant_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;


-- ---------------------------------------------------------------------------------------------------
-- From here on: what schema.prisma cannot say.

-- Counters of packages ---------------------------------------------------------------------------------
-- As of pre-alerts: 32 slots, so that writers do not queue behind one row. A package of no courier counts under
-- the zero id, since a primary key holds no null.

create function package_owner(p_courier uuid) returns uuid
language sql immutable parallel safe
return coalesce(p_courier, '00000000-0000-0000-0000-000000000000');

create function tally_packages_added() returns trigger
language plpgsql as $$
begin
  insert into package_tallies as tally (tenant_id, courier_id, slot, total, weight_lb)
  select tenant_id, package_owner(courier_id), pg_backend_pid() % 32, count(*), sum(weight_lb)
  from added group by 1, 2 order by 1, 2
  on conflict (tenant_id, courier_id, slot) do update
    set total = tally.total + excluded.total, weight_lb = tally.weight_lb + excluded.weight_lb;
  return null;
end $$;

create function tally_packages_removed() returns trigger
language plpgsql as $$
begin
  insert into package_tallies as tally (tenant_id, courier_id, slot, total, weight_lb)
  select tenant_id, package_owner(courier_id), pg_backend_pid() % 32, -count(*), -sum(weight_lb)
  from removed group by 1, 2 order by 1, 2
  on conflict (tenant_id, courier_id, slot) do update
    set total = tally.total + excluded.total, weight_lb = tally.weight_lb + excluded.weight_lb;
  return null;
end $$;

create function tally_package_changed() returns trigger
language plpgsql as $$
begin
  insert into package_tallies as tally (tenant_id, courier_id, slot, total, weight_lb)
  select tenant_id, courier_id, pg_backend_pid() % 32, sum(step), sum(step * weight_lb)
  from (values (new.tenant_id, package_owner(new.courier_id), 1, new.weight_lb),
               (old.tenant_id, package_owner(old.courier_id), -1, old.weight_lb))
    as steps (tenant_id, courier_id, step, weight_lb)
  group by 1, 2 order by 1, 2
  on conflict (tenant_id, courier_id, slot) do update
    set total = tally.total + excluded.total, weight_lb = tally.weight_lb + excluded.weight_lb;
  return null;
end $$;

create trigger tally_added after insert on packages
  referencing new table as added for each statement execute function tally_packages_added();
create trigger tally_removed after delete on packages
  referencing old table as removed for each statement execute function tally_packages_removed();
-- For each row, because only such a trigger can say when: statements that set neither column (10,000 packages put
-- on a manifest) pass it by without keeping their rows for it, and rows whose values stay do too.
create trigger tally_changed after update of courier_id, weight_lb on packages
  for each row when (old.courier_id is distinct from new.courier_id or old.weight_lb <> new.weight_lb)
  execute function tally_package_changed();

alter table package_tallies set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- The packages that are there already; the table's own policy would hide them from an owner that is no superuser.
alter table packages no force row level security;
insert into package_tallies (tenant_id, courier_id, slot, total, weight_lb)
select tenant_id, package_owner(courier_id), 0, count(*), sum(weight_lb) from packages group by 1, 2;
alter table packages force row level security;

-- Synchronisation --------------------------------------------------------------------------------------
-- One row a package, beside packages and not in it: a package's row is wide and has ten indexes to keep.

alter table package_syncs
  add constraint status_is_known check (status in ('queued', 'sending', 'sent', 'failed'));

-- Ids made inside a statement sort by time as the application's own do (UUIDv7).
create function new_id() returns uuid
language sql volatile parallel safe
return encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
  placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
  52, 1), 53, 1), 'hex')::uuid;

-- Row-level security -----------------------------------------------------------------------------------

do $$
declare
  name text;
begin
  foreach name in array array['package_tallies', 'package_syncs']
  loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format(
      'create policy courier_scope on %I
       using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
       with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))', name);
  end loop;
end $$;

-- Whether a package of the tenant has a courier: a sibling's is refused with 403, and the policy hides it.
create function package_has_courier(p_package uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
  select exists (
    select from packages p where p.tenant_id = app_tenant() and p.id = p_package and p.courier_id is not null)
$$;

grant create on schema public to crossdock_lookup;
alter function package_has_courier(uuid) owner to crossdock_lookup;
revoke create on schema public from crossdock_lookup;

revoke all on function package_has_courier(uuid) from public;
grant execute on function package_has_courier(uuid) to crossdock_app;
grant select, insert, update, delete on package_tallies, package_syncs to crossdock_app;
