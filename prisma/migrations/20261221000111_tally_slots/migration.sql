-- upgrade: rolling
-- Transactions of one tenant never count in the same slot at the same time, so counting waits for nobody and cannot deadlock
-- (docs/decisions/0113). The triggers run in the database, so servers of the previous release count in the same way from now on.

-- Returns a slot of the counters that no other transaction of the tenant has, and keeps it until the end of the transaction. It begins
-- with the slot of the backend. Slots from 32 on are used only if the first 32 are taken. It never waits: each transaction has few slots.
create function tally_slot() returns smallint
language plpgsql volatile as $$
declare
  tallies constant integer := hashtext('tallies ' || coalesce(current_setting('app.tenant_id', true), ''));
  own constant integer := pg_backend_pid() % 32;
  slot integer := own;
  step integer := 0;
begin
  while not pg_try_advisory_xact_lock(tallies, slot) loop
    step := step + 1;
    slot := case when step < 32 then (own + step) % 32 else step end;
  end loop;
  return slot;
end $$;

-- The same functions as before, with the new slot. In a sub-select, it is chosen once per statement, and only if there is something to count.

create or replace function tally_prealerts_added() returns trigger
language plpgsql as $$
begin
  insert into prealert_tallies as tally (tenant_id, courier_id, status, slot, total)
  select tenant_id, courier_id, status, (select tally_slot()), count(*)
  from added group by tenant_id, courier_id, status order by tenant_id, courier_id, status
  on conflict (tenant_id, courier_id, status, slot) do update set total = tally.total + excluded.total;
  return null;
end $$;

create or replace function tally_prealerts_removed() returns trigger
language plpgsql as $$
begin
  insert into prealert_tallies as tally (tenant_id, courier_id, status, slot, total)
  select tenant_id, courier_id, status, (select tally_slot()), -count(*)
  from removed group by tenant_id, courier_id, status order by tenant_id, courier_id, status
  on conflict (tenant_id, courier_id, status, slot) do update set total = tally.total + excluded.total;
  return null;
end $$;

create or replace function tally_prealerts_changed() returns trigger
language plpgsql as $$
begin
  insert into prealert_tallies as tally (tenant_id, courier_id, status, slot, total)
  select tenant_id, courier_id, status, (select tally_slot()), sum(step)
  from (
    select tenant_id, courier_id, status, 1 as step from added
    union all
    select tenant_id, courier_id, status, -1 from removed
  ) as steps
  group by tenant_id, courier_id, status having sum(step) <> 0 order by tenant_id, courier_id, status
  on conflict (tenant_id, courier_id, status, slot) do update set total = tally.total + excluded.total;
  return null;
end $$;

create or replace function tally_customers_added() returns trigger
language plpgsql as $$
begin
  insert into customer_tallies as tally (tenant_id, branch, courier_id, slot, total)
  select tenant_id, branch, courier_id, (select tally_slot()), total
  from (
    select tenant_id, '' as branch, courier_id, count(*) as total from added group by tenant_id, courier_id
    union all
    select tenant_id, branch, courier_id, count(*) from added where branch is not null group by tenant_id, branch, courier_id
  ) as counts
  order by tenant_id, branch, courier_id
  on conflict (tenant_id, branch, courier_id, slot) do update set total = tally.total + excluded.total;
  return null;
end $$;

create or replace function tally_customers_removed() returns trigger
language plpgsql as $$
begin
  insert into customer_tallies as tally (tenant_id, branch, courier_id, slot, total)
  select tenant_id, branch, courier_id, (select tally_slot()), -total
  from (
    select tenant_id, '' as branch, courier_id, count(*) as total from removed group by tenant_id, courier_id
    union all
    select tenant_id, branch, courier_id, count(*) from removed where branch is not null group by tenant_id, branch, courier_id
  ) as counts
  order by tenant_id, branch, courier_id
  on conflict (tenant_id, branch, courier_id, slot) do update set total = tally.total + excluded.total;
  return null;
end $$;

create or replace function tally_customers_changed() returns trigger
language plpgsql as $$
begin
  insert into customer_tallies as tally (tenant_id, branch, courier_id, slot, total)
  select tenant_id, branch, courier_id, (select tally_slot()), sum(step)
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

create or replace function tally_packages_added() returns trigger
language plpgsql as $$
begin
  insert into package_tallies as tally (tenant_id, courier_id, slot, total, weight_lb)
  select tenant_id, package_owner(courier_id), (select tally_slot()), count(*), sum(weight_lb)
  from added group by 1, 2 order by 1, 2
  on conflict (tenant_id, courier_id, slot) do update
    set total = tally.total + excluded.total, weight_lb = tally.weight_lb + excluded.weight_lb;
  return null;
end $$;

create or replace function tally_packages_removed() returns trigger
language plpgsql as $$
begin
  insert into package_tallies as tally (tenant_id, courier_id, slot, total, weight_lb)
  select tenant_id, package_owner(courier_id), (select tally_slot()), -count(*), -sum(weight_lb)
  from removed group by 1, 2 order by 1, 2
  on conflict (tenant_id, courier_id, slot) do update
    set total = tally.total + excluded.total, weight_lb = tally.weight_lb + excluded.weight_lb;
  return null;
end $$;

create or replace function tally_package_changed() returns trigger
language plpgsql as $$
begin
  insert into package_tallies as tally (tenant_id, courier_id, slot, total, weight_lb)
  select tenant_id, courier_id, (select tally_slot()), sum(step), sum(step * weight_lb)
  from (values (new.tenant_id, package_owner(new.courier_id), 1, new.weight_lb),
               (old.tenant_id, package_owner(old.courier_id), -1, old.weight_lb))
    as steps (tenant_id, courier_id, step, weight_lb)
  group by 1, 2 order by 1, 2
  on conflict (tenant_id, courier_id, slot) do update
    set total = tally.total + excluded.total, weight_lb = tally.weight_lb + excluded.weight_lb;
  return null;
end $$;
