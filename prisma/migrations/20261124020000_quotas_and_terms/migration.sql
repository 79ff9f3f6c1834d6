-- CreateTable
CREATE TABLE "courier_quotas" (
    "tenant_id" UUID NOT NULL,
    "courier_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "period_start" TIMESTAMPTZ(3) NOT NULL,
    "used" INTEGER NOT NULL,

    CONSTRAINT "courier_quotas_pkey" PRIMARY KEY ("tenant_id","courier_id","kind","period_start")
);

-- AddForeignKey
ALTER TABLE "courier_quotas" ADD CONSTRAINT "courier_quotas_tenant_id_courier_id_fkey" FOREIGN KEY ("tenant_id", "courier_id") REFERENCES "couriers"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- ---------------------------------------------------------------------------------------------------
-- From here on: what schema.prisma cannot say. docs/decisions/0030 says why it is made so.

alter table courier_quotas add constraint used_not_negative check (used >= 0);
-- rewritten in place with every change of a courier's customers
alter table courier_quotas set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
alter table courier_quotas enable row level security;
alter table courier_quotas force row level security;
create policy courier_scope on courier_quotas
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
grant select, insert, update, delete on courier_quotas to crossdock_app;

-- What a name is indexed by -------------------------------------------------------------------------------
-- As name_terms, of a name's three longest words at most: a name of six words had 210 index keys for itself.

create function indexed_name_terms(p_name text) returns text[]
language plpgsql immutable strict parallel safe as $$
declare
  words text[] := public.name_words(p_name);
begin
  if cardinality(words) > 3 then
    words := array(
      select word from (
        select word, n from unnest(words) with ordinality parts (word, n) order by length(word) desc, n limit 3
      ) longest order by n);
  end if;
  return case when cardinality(words) > 1 then words || left(array_to_string(words, ''), 40) else words end;
end $$;

-- One key for every indexed term of a customer and one for every pair of them, in the tenant's scope and in the courier's.
create function customer_term_keys(p_tenant uuid, p_courier uuid, p_first text, p_last text) returns bigint[]
language plpgsql immutable strict parallel safe cost 10000 as $$
declare
  terms text[] := public.indexed_name_terms(p_first) || public.indexed_name_terms(p_last);
  scope uuid;
  keys bigint[] := '{}';
begin
  -- as most people are named, and three times as fast
  if cardinality(terms) = 2 then
    return array[public.term_key(p_tenant, terms[1]), public.term_key(p_tenant, terms[2]),
      public.pair_key(p_tenant, terms[1], terms[2]), public.term_key(p_courier, terms[1]),
      public.term_key(p_courier, terms[2]), public.pair_key(p_courier, terms[1], terms[2])];
  end if;
  foreach scope in array array[p_tenant, p_courier] loop
    for i in 1 .. cardinality(terms) loop
      keys := keys || public.term_key(scope, terms[i]);
      for j in i + 1 .. cardinality(terms) loop
        keys := keys || public.pair_key(scope, terms[i], terms[j]);
      end loop;
    end loop;
  end loop;
  return keys;
end $$;

drop index customers_name_keys;
-- Every lookup reads the whole list of pending entries: at the default of 4 MB that took 5 ms, and prune_terms looks up each
-- term of the dictionary twice.
create index customers_term_keys on customers
  using gin (customer_term_keys(tenant_id, courier_id, first_name, last_name)) with (gin_pending_list_limit = 64);

create or replace function ids_by_name_keys(p_tenant uuid, p_courier uuid, p_keys bigint[], p_names integer) returns uuid[]
language plpgsql stable set search_path = public, pg_temp as $$
declare
  ids uuid[] := '{}';
  names integer := 0;
  taken integer := 0;
  step integer := 6;
  more record;
begin
  while taken < coalesce(cardinality(p_keys), 0) and names < p_names loop
    select coalesce(array_agg(c.id), '{}') as ids, count(distinct hashtextextended(c.first_name || chr(31) || c.last_name, 0)) as names into more
    from (
      -- offset 0: no other index is to be read beside that of the keys
      select * from customers where customer_term_keys(tenant_id, courier_id, first_name, last_name)
        && p_keys[taken + 1:taken + step] offset 0
    ) c
    where c.tenant_id = p_tenant and (p_courier is null or c.courier_id = p_courier);
    ids := ids || more.ids;
    names := names + more.names;
    taken := taken + step;
    step := step * 3;
  end loop;
  return ids;
end $$;

drop function customer_name_keys(uuid, uuid, text, text);

-- The dictionary --------------------------------------------------------------------------------------------

-- How many terms a courier may have: what the names of some 100,000 customers hold. Further ones are found as they are spelt.
create function customer_term_limit() returns integer language sql immutable parallel safe return 20000;

-- Writers of customers share this lock, and prune_terms has it alone: a term that a transaction has found in the
-- dictionary must not be pruned before the customer that has it can be seen.
create function share_customer_terms(p_tenant uuid) returns void
language sql volatile as $$
  select pg_advisory_xact_lock_shared(hashtextextended('customer terms ' || p_tenant::text, 0))
$$;

-- Nobody waits here for another's transaction: two who add one term at once both add it. Beyond its limit a courier
-- adds no terms: neither to its own, nor to the tenant's.
create or replace function add_customer_terms(p_tenants uuid[], p_couriers uuid[], p_names text[]) returns void
language sql volatile set search_path = public, pg_temp as $$
  with had as (
    select distinct tenant_id, courier_id, term
    from unnest(p_tenants, p_couriers, p_names) as named (tenant_id, courier_id, name), unnest(indexed_name_terms(name)) term
  ), by_tenant as (
    select tenant_id, array_agg(courier_id) as couriers, array_agg(term) as terms from had group by tenant_id
  ), lacking as materialized (
    select by_tenant.tenant_id, missing.scope_id as courier_id, missing.term,
      row_number() over (partition by by_tenant.tenant_id, missing.scope_id order by missing.term) as n
    from by_tenant, missing_customer_terms(by_tenant.tenant_id, couriers, terms) missing
  ), room as materialized (
    select lacking_one.courier_id, customer_term_limit() - (
      select count(*) from (
        select from customer_terms known
        where known.tenant_id = lacking_one.tenant_id and known.scope_id = lacking_one.courier_id
        limit customer_term_limit()
      ) counted) as terms
    from (select distinct tenant_id, courier_id from lacking) lacking_one
  ), added as materialized (
    select lacking.tenant_id, lacking.courier_id, lacking.term
    from lacking join room on room.courier_id = lacking.courier_id where lacking.n <= room.terms
  ), added_by_tenant as (
    select tenant_id, array_agg(tenant_id) as scopes, array_agg(term) as terms
    from (select distinct tenant_id, term from added) named group by tenant_id
  ), wanted as (
    select tenant_id, courier_id as scope_id, term from added
    union all
    select a.tenant_id, missing.scope_id, missing.term
    from added_by_tenant a, missing_customer_terms(a.tenant_id, a.scopes, a.terms) missing
  )
  insert into customer_terms (tenant_id, id, scope_id, term, keys)
  select tenant_id, new_id(), scope_id, term, term_keys(scope_id, term) from wanted
$$;

create or replace function customers_added_to_terms() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  -- a statement of its own, so that the next one sees what was pruned before the lock was had
  perform share_customer_terms(tenant_id) from (select distinct tenant_id from added order by tenant_id) tenants;
  perform add_customer_terms(array_agg(tenant_id), array_agg(courier_id), array_agg(name))
  from (
    select tenant_id, courier_id, first_name as name from added
    union
    select tenant_id, courier_id, last_name from added
  ) named having count(*) > 0;
  return null;
end $$;

create or replace function customers_renamed_in_terms() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  perform share_customer_terms(tenant_id) from (select distinct tenant_id from added order by tenant_id) tenants;
  perform add_customer_terms(array_agg(tenant_id), array_agg(courier_id), array_agg(name))
  from (
    (select tenant_id, courier_id, first_name as name from added
     except
     select tenant_id, courier_id, first_name from removed)
    union
    (select tenant_id, courier_id, last_name from added
     except
     select tenant_id, courier_id, last_name from removed)
  ) named having count(*) > 0;
  return null;
end $$;

-- Drops terms that no customer of their scope has any more and those held twice, of the tenant in scope: of the first
-- `p_limit` terms behind `p_after`. Answers the last of them, and how many were dropped; no number while customers are
-- being written: call again. No row when there are no terms behind.
create function prune_terms(p_after uuid, p_limit integer) returns table (last_id uuid, pruned integer)
language plpgsql volatile set search_path = public, pg_temp as $$
declare
  tenant constant uuid := app_tenant();
  doomed uuid[];
begin
  -- the search for what can go is long and needs no lock; it is made again, for those alone, under the lock
  select max(t.id::text)::uuid, array_agg(t.id) into last_id, doomed from (
    select id from customer_terms where tenant_id = tenant and id > p_after order by id limit p_limit
  ) t;
  if last_id is null then
    return;
  end if;
  doomed := unneeded_terms(doomed);
  pruned := 0;
  if cardinality(doomed) > 0 then
    if pg_try_advisory_xact_lock(hashtextextended('customer terms ' || tenant::text, 0)) then
      doomed := unneeded_terms(doomed);
      delete from customer_terms t where t.tenant_id = tenant and t.id = any (doomed);
      get diagnostics pruned = row_count;
    else
      pruned := null;
    end if;
  end if;
  return next;
end $$;

-- Those of the terms that no customer in their scope has, or that an older row of the dictionary holds as well.
create function unneeded_terms(p_ids uuid[]) returns uuid[]
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
  return array(
    select t.id from customer_terms t
    where t.tenant_id = app_tenant() and app_sees_all_couriers() and t.id = any (p_ids)
      and not is_term_needed(t.tenant_id, t.id, t.scope_id, t.term));
end $$;

-- Whether a customer in the term's scope has it, and no older row of the dictionary holds the same.
create function is_term_needed(p_tenant uuid, p_id uuid, p_scope uuid, p_term text) returns boolean
language sql stable set search_path = public, pg_temp set enable_seqscan = off as $$
  select exists (
    select from customers where customer_term_keys(tenant_id, courier_id, first_name, last_name)
      && array[term_key(p_scope, p_term)]
  ) and not exists (
    -- offset 0: the primary key finds every older row of the tenant, and with stale statistics it looks cheaper
    select from (
      select id from customer_terms
      where tenant_id = p_tenant and scope_id = p_scope and term = p_term offset 0
    ) other where other.id < p_id
  )
$$;

create policy term_prunes on customer_terms for delete
  using (tenant_id = app_tenant() and (select app_sees_all_couriers()));
grant delete on customer_terms to crossdock_app;
drop function prune_customer_terms();
drop policy owner_prunes on customer_terms;

-- Ids of the customers in scope that have every word of a text in their names, spelt so: also those whose words the
-- dictionary has no room for.
create function customers_named(p_text text, p_courier uuid, p_limit integer) returns setof uuid
language plpgsql stable security definer rows 50 set search_path = public, pg_temp as $$
declare
  tenant constant uuid := app_tenant();
  courier constant uuid := case when app_sees_all_couriers() then p_courier else app_courier() end;
  scope constant uuid := coalesce(courier, tenant);
  words constant text[] := name_words(p_text);
  keys bigint[];
begin
  if cardinality(words) = 0 or (courier is null and not app_sees_all_couriers()) then
    return;
  end if;
  if cardinality(words) = 1 then
    keys := array[term_key(scope, words[1])];
  else
    select array_agg(pair_key(scope, words[i], words[j])) into keys
    from generate_subscripts(words, 1) i, generate_subscripts(words, 1) j where i < j;
  end if;
  return query
    select c.id from customers c
    where c.tenant_id = tenant and c.id = any (ids_by_name_keys(tenant, courier, keys, p_limit))
      and customer_name_terms(c.first_name, c.last_name) @> words
    order by c.last_name, c.first_name, c.id limit p_limit;
end $$;

grant create on schema public to crossdock_lookup;
alter function unneeded_terms(uuid[]) owner to crossdock_lookup;
alter function customers_named(text, uuid, integer) owner to crossdock_lookup;
revoke create on schema public from crossdock_lookup;
revoke all on function unneeded_terms(uuid[]), customers_named(text, uuid, integer) from public;
grant execute on function unneeded_terms(uuid[]), customers_named(text, uuid, integer) to crossdock_app;
