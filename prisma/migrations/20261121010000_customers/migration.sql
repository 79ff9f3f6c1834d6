-- The customer list: an index for every order, counters for its total and its branches, a search.

-- Orders ---------------------------------------------------------------------------------------------
-- Within one courier; all couriers' customers are merged from these (decision 0008). Names that are equal are told
-- apart by the other name, then by the id. The branch's serves the filter as well: within one branch it is in the
-- list's default order. The order by user_code is the unique index.

create index customers_tenant_id_courier_id_first_name_last_name_id_idx
  on customers (tenant_id, courier_id, first_name, last_name, id);
create index customers_tenant_id_courier_id_last_name_first_name_id_idx
  on customers (tenant_id, courier_id, last_name, first_name, id);
create index customers_of_courier_by_branch on customers (tenant_id, courier_id, branch, first_name, last_name, id);
create index customers_tenant_id_courier_id_created_at_id_idx on customers (tenant_id, courier_id, created_at, id);
create index customers_tenant_id_courier_id_updated_at_id_idx on customers (tenant_id, courier_id, updated_at, id);

-- Counters ---------------------------------------------------------------------------------------------
-- Two kinds of row: of all of a courier's customers, whose branch is '', and of those of one branch. The key
-- begins with the branch, so that all couriers' rows of one kind lie together. Slots as in prealert_tallies.

-- The owner of the schema sees rows only while row-level security is not forced on it.
alter table customers no force row level security;
update customers set branch = null where btrim(branch) = '';
alter table customers add constraint branch_not_blank check (btrim(branch) <> '');

create table customer_tallies (
  tenant_id uuid not null,
  branch text not null,
  courier_id uuid not null,
  slot smallint not null,
  total integer not null,
  constraint customer_tallies_pkey primary key (tenant_id, branch, courier_id, slot)
);
alter table customer_tallies set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
alter table customer_tallies enable row level security;
create policy courier_scope on customer_tallies
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
grant select, insert, update, delete on customer_tallies to crossdock_app;

create function tally_customers_added() returns trigger
language plpgsql as $$
begin
  insert into customer_tallies as tally (tenant_id, branch, courier_id, slot, total)
  select tenant_id, branch, courier_id, pg_backend_pid() % 32, total
  from (
    select tenant_id, '' as branch, courier_id, count(*) as total from added group by tenant_id, courier_id
    union all
    select tenant_id, branch, courier_id, count(*) from added where branch is not null group by tenant_id, branch, courier_id
  ) as counts
  order by tenant_id, branch, courier_id
  on conflict (tenant_id, branch, courier_id, slot) do update set total = tally.total + excluded.total;
  return null;
end $$;

create function tally_customers_removed() returns trigger
language plpgsql as $$
begin
  insert into customer_tallies as tally (tenant_id, branch, courier_id, slot, total)
  select tenant_id, branch, courier_id, pg_backend_pid() % 32, -total
  from (
    select tenant_id, '' as branch, courier_id, count(*) as total from removed group by tenant_id, courier_id
    union all
    select tenant_id, branch, courier_id, count(*) from removed where branch is not null group by tenant_id, branch, courier_id
  ) as counts
  order by tenant_id, branch, courier_id
  on conflict (tenant_id, branch, courier_id, slot) do update set total = tally.total + excluded.total;
  return null;
end $$;

-- Most updates leave courier and branch alone, and write nothing here.
create function tally_customers_changed() returns trigger
language plpgsql as $$
begin
  insert into customer_tallies as tally (tenant_id, branch, courier_id, slot, total)
  select tenant_id, branch, courier_id, pg_backend_pid() % 32, sum(step)
  from (
    select tenant_id, '' as branch, courier_id, 1 as step from added
    union all
    select tenant_id, '', courier_id, -1 from removed
    union all
    select tenant_id, branch, courier_id, 1 from added where branch is not null
    union all
    select tenant_id, branch, courier_id, -1 from removed where branch is not null
  ) as steps
  group by tenant_id, branch, courier_id having sum(step) <> 0 order by tenant_id, branch, courier_id
  on conflict (tenant_id, branch, courier_id, slot) do update set total = tally.total + excluded.total;
  return null;
end $$;

create trigger tally_added after insert on customers
  referencing new table as added for each statement execute function tally_customers_added();
create trigger tally_removed after delete on customers
  referencing old table as removed for each statement execute function tally_customers_removed();
create trigger tally_changed after update on customers
  referencing old table as removed new table as added for each statement execute function tally_customers_changed();

-- The customers that there are already.
insert into customer_tallies (tenant_id, branch, courier_id, slot, total)
select tenant_id, '', courier_id, 0, count(*) from customers group by tenant_id, courier_id
union all
select tenant_id, branch, courier_id, 0, count(*) from customers where branch is not null group by tenant_id, branch, courier_id;
alter table customers force row level security;
alter table customer_tallies force row level security;

-- Search -----------------------------------------------------------------------------------------------

create index customers_user_code_trgm on customers using gin (user_code gin_trgm_ops);

-- Ids of the customers in scope whose user code or name matches an ilike pattern (decision 0005).
create function customers_matching(p_pattern text) returns setof uuid
language sql stable security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
  select c.id from customers c
  where c.tenant_id = app_tenant() and (app_sees_all_couriers() or c.courier_id = app_courier())
    and (c.user_code ilike p_pattern or (c.first_name || ' ' || c.last_name) ilike p_pattern)
$$;

grant create on schema public to crossdock_lookup;
alter function customers_matching(text) owner to crossdock_lookup;
revoke create on schema public from crossdock_lookup;
revoke all on function customers_matching(text) from public;
grant execute on function customers_matching(text) to crossdock_app;
