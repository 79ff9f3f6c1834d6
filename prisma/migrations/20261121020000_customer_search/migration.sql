-- CreateTable
CREATE TABLE "customer_terms" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "scope_id" UUID NOT NULL,
    "term" TEXT NOT NULL,
    "keys" BIGINT[],

    CONSTRAINT "customer_terms_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateIndex
CREATE INDEX "customer_terms_tenant_id_scope_id_term_idx" ON "customer_terms"("tenant_id", "scope_id", "term");

-- AddForeignKey
ALTER TABLE "customer_terms" ADD CONSTRAINT "customer_terms_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- CreateIndex
CREATE INDEX IF NOT EXISTS "customers_tenant_id_last_name_first_name_id_idx" ON "customers"("tenant_id", "last_name", "first_name", "id");

-- CreateIndex
CREATE INDEX IF NOT EXISTS "customers_tenant_id_courier_id_last_name_first_name_id_idx" ON "customers"("tenant_id", "courier_id", "last_name", "first_name", "id");

-- ---------------------------------------------------------------------------------------------------
-- From here on: what schema.prisma cannot say. docs/decisions/0012 says why it is made so.

create extension if not exists fuzzystrmatch;

-- Names as they are compared ---------------------------------------------------------------------------

-- Lower case and without accents. Immutable, which unaccent() is not, because an index is built on it.
create function fold_name(p_text text) returns text
language plpgsql immutable strict parallel safe as $$
begin
  if octet_length(p_text) = length(p_text) then
    return lower(p_text);
  end if;
  return lower(replace(replace(replace(replace(
    translate(regexp_replace(normalize(p_text, nfd), '[\u0300-\u036f]', '', 'g'), 'ØøŁłĐđðÞþıÆŒ', 'OoLlDddTtiæœ'),
    'ß', 'ss'), 'ẞ', 'ss'), 'æ', 'ae'), 'œ', 'oe'));
end $$;

-- The words of a name: apostrophes and full stops join (O'Garro, St.), other punctuation parts (Shelly-Ann).
-- Clipped, because levenshtein() fails past 255 characters.
create function name_words(p_text text) returns text[]
language plpgsql immutable strict parallel safe as $$
declare
  words text[] := array_remove(string_to_array(translate(public.fold_name(p_text),
    e'-,/&()"_+:;!?*#@|~<>[]{}=%^$\\\t\r\n\u00a0''’‘`´.', repeat(' ', 33)), ' '), '');
begin
  if length(p_text) > 40 then
    words := array(select left(word, 40) from unnest(words) with ordinality parts (word, n) order by n);
  end if;
  return words[1:6];
end $$;

-- What a name is found by: its words, and a name of several words written as one.
create function name_terms(p_name text) returns text[]
language plpgsql immutable strict parallel safe as $$
declare
  words text[] := public.name_words(p_name);
begin
  return case when cardinality(words) > 1 then words || left(array_to_string(words, ''), 40) else words end;
end $$;

create function customer_name_terms(p_first text, p_last text) returns text[]
language sql immutable strict parallel safe
return name_terms(p_first) || name_terms(p_last);

-- Keys begin with the scope, so that what a lookup reads, and how long it takes, depends on that scope's rows alone.
create function term_key(p_scope uuid, p_term text) returns bigint
language sql immutable strict parallel safe
return hashtextextended(p_scope::text || p_term, 0);

create function pair_key(p_scope uuid, p_one text, p_other text) returns bigint
language sql immutable strict parallel safe
return hashtextextended(p_scope::text || least(p_one collate "C", p_other collate "C") || ' '
  || greatest(p_one collate "C", p_other collate "C"), 0);

-- One key for every term of a customer and one for every pair of them, in the tenant's scope and in the courier's.
create function customer_name_keys(p_tenant uuid, p_courier uuid, p_first text, p_last text) returns bigint[]
language plpgsql immutable strict parallel safe cost 10000 as $$
declare
  terms text[] := public.customer_name_terms(p_first, p_last);
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

-- How a term is found when it is misspelt: by its trigrams, its Soundex and its Double Metaphone code.
create function term_keys(p_scope uuid, p_term text) returns bigint[]
language sql immutable strict parallel safe cost 10000
begin atomic
  select array_agg(distinct hashtextextended(p_scope::text || key, 1))
  from (
    select substr('  ' || p_term || ' ', n, 3) as key from generate_series(1, length(p_term) + 1) n
    union all
    select 'soundex ' || soundex(p_term) where p_term ~ '[a-z]'
    union all
    select 'metaphone ' || dmetaphone(p_term) where p_term ~ '^[a-z]+$'
  ) made;
end;

-- The dictionary ---------------------------------------------------------------------------------------
-- The distinct terms of the customers of each scope: a courier's id, or the tenant's own id for all of the tenant.
-- It may hold a term twice, and terms that no customer has any more: see 0008.

create index customer_terms_keys on customer_terms using gin (keys) with (fastupdate = off);
create index customers_name_keys on customers
  using gin (customer_name_keys(tenant_id, courier_id, first_name, last_name));

alter table customer_terms enable row level security;
alter table customer_terms force row level security;
create policy term_scope on customer_terms for select
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or scope_id = (select app_courier())));
-- a courier's customer adds to the tenant's terms as well
create policy term_appends on customer_terms for insert
  with check (tenant_id = app_tenant()
    and ((select app_sees_all_couriers()) or scope_id in ((select app_courier()), tenant_id)));
create policy lookup_reads on customer_terms for select to crossdock_lookup using (true);
grant select, insert on customer_terms to crossdock_app;
grant select on customer_terms to crossdock_lookup;

-- Which of these terms the scopes lack. A courier's change must not read the tenant's terms, only miss them. Who
-- writes outside a scope, as a superuser may, misses them all and stores some twice.
create function missing_customer_terms(p_tenant uuid, p_scopes uuid[], p_terms text[])
returns table (scope_id uuid, term text)
language sql stable security definer set search_path = public, pg_temp as $$
  select wanted.scope_id, wanted.term from unnest(p_scopes, p_terms) as wanted (scope_id, term)
  where not exists (
    select from customer_terms known
    where p_tenant = app_tenant() and known.tenant_id = p_tenant and known.scope_id = wanted.scope_id and known.term = wanted.term)
$$;

-- Nobody waits here for another's transaction: two who add one term at once both add it.
create function add_customer_terms(p_tenants uuid[], p_couriers uuid[], p_names text[]) returns void
language sql volatile set search_path = public, pg_temp as $$
  with had as (
    select distinct tenant_id, courier_id, term
    from unnest(p_tenants, p_couriers, p_names) as named (tenant_id, courier_id, name), unnest(name_terms(name)) term
  ), wanted as (
    select tenant_id, courier_id as scope_id, term from had
    union
    select tenant_id, tenant_id, term from had
  ), by_tenant as (
    select tenant_id, array_agg(scope_id) as scopes, array_agg(term) as terms from wanted group by tenant_id
  )
  insert into customer_terms (tenant_id, id, scope_id, term, keys)
  select by_tenant.tenant_id, gen_random_uuid(), missing.scope_id, missing.term, term_keys(missing.scope_id, missing.term)
  from by_tenant, missing_customer_terms(by_tenant.tenant_id, scopes, terms) missing
$$;

create function customers_added_to_terms() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  perform add_customer_terms(array_agg(tenant_id), array_agg(courier_id), array_agg(name))
  from (
    select tenant_id, courier_id, first_name as name from added
    union
    select tenant_id, courier_id, last_name from added
  ) named having count(*) > 0;
  return null;
end $$;

create function customers_renamed_in_terms() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
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

create trigger terms_added after insert on customers
  referencing new table as added for each statement execute function customers_added_to_terms();
create trigger terms_renamed after update on customers
  referencing old table as removed new table as added for each statement execute function customers_renamed_in_terms();

-- For the schema's owner: drops terms that nobody has any more and those held twice, tenant by tenant, each in its
-- scope, because FORCE binds the owner too. Writers of customers wait until the transaction ends.
do $$
begin
  execute format('create policy owner_prunes on customer_terms for delete to %I using (tenant_id = app_tenant())', current_user);
end $$;

create function prune_customer_terms() returns bigint
language plpgsql volatile set search_path = public, pg_temp as $$
declare
  tenant uuid;
  pruned bigint;
  total bigint := 0;
begin
  lock table customers in share row exclusive mode;
  for tenant in select id from tenants order by id loop
    perform set_config('app.tenant_id', tenant::text, true), set_config('app.courier_id', 'all', true);
    with living as (
      select distinct courier_id, term from customers, unnest(customer_name_terms(first_name, last_name)) term
      where tenant_id = tenant
    ), wanted as (
      select courier_id as scope_id, term from living
      union
      select tenant, term from living
    ), kept as (
      select distinct on (t.scope_id, t.term) t.id
      from customer_terms t join wanted using (scope_id, term)
      where t.tenant_id = tenant
      order by t.scope_id, t.term, t.id
    )
    delete from customer_terms t where t.tenant_id = tenant and not exists (select from kept where kept.id = t.id);
    get diagnostics pruned = row_count;
    total := total + pruned;
  end loop;
  perform set_config('app.tenant_id', '', true), set_config('app.courier_id', '', true);
  return total;
end $$;

-- The searches -----------------------------------------------------------------------------------------

-- The whole text that the basic search looks through.
create index customers_text_trgm on customers
  using gin ((first_name || ' ' || last_name || chr(31) || user_code || chr(31) || coalesce(email, '')) gin_trgm_ops);

-- Ids of the first customers in scope, by name, that hold an ilike pattern. A short walk in the order of the names
-- answers what many customers hold; what few hold is left to the trigrams. Both answer the same.
create function search_customers(p_pattern text, p_courier uuid, p_limit integer) returns setof uuid
language plpgsql stable security definer rows 50 set search_path = public, pg_temp
set plan_cache_mode = force_custom_plan set jit = off as $$
declare
  tenant constant uuid := app_tenant();
  courier constant uuid := case when app_sees_all_couriers() then p_courier else app_courier() end;
  found uuid[];
begin
  if courier is null and not app_sees_all_couriers() then
    return;
  end if;
  if courier is null then
    select array_agg(id) into found from (
      select id from (
        select * from customers c where c.tenant_id = tenant order by last_name, first_name, id limit 4000
      ) walked
      where (first_name || ' ' || last_name) ilike p_pattern or user_code ilike p_pattern or email ilike p_pattern
      order by last_name, first_name, id limit p_limit
    ) few;
  else
    select array_agg(id) into found from (
      select id from (
        select * from customers c where c.tenant_id = tenant and c.courier_id = courier
        order by last_name, first_name, id limit 4000
      ) walked
      where (first_name || ' ' || last_name) ilike p_pattern or user_code ilike p_pattern or email ilike p_pattern
      order by last_name, first_name, id limit p_limit
    ) few;
  end if;
  if cardinality(found) = p_limit then
    return query select unnest(found);
    return;
  end if;
  return query
    select c.id from customers c
    where c.tenant_id = tenant and (courier is null or c.courier_id = courier)
      and (c.first_name || ' ' || c.last_name || chr(31) || c.user_code || chr(31) || coalesce(c.email, '')) ilike p_pattern
      and ((c.first_name || ' ' || c.last_name) ilike p_pattern or c.user_code ilike p_pattern or c.email ilike p_pattern)
    order by c.last_name, c.first_name, c.id limit p_limit;
end $$;

-- How alike a word of a query and a term are, from 0 to 1: letters, neighbours swapped counting once; what sounds
-- the same is nearer than its letters say; the beginning of a term is nearly the term.
create function term_likeness(p_word text, p_term text, p_swapped text[]) returns double precision
language plpgsql immutable strict parallel safe as $$
declare
  longest constant integer := greatest(length(p_word), length(p_term));
  distance integer;
  likeness double precision;
begin
  if p_word = p_term then
    return 1;
  end if;
  distance := levenshtein_less_equal(p_word, p_term, 4);
  if distance between 2 and 4 then
    distance := least(distance, 1 + (select min(levenshtein_less_equal(s, p_term, 2)) from unnest(p_swapped) s));
  end if;
  likeness := greatest(0, 1 - distance::double precision / longest);
  -- the codes read the first few sounds only: of words of very different lengths they say nothing
  if abs(length(p_word) - length(p_term)) <= 2 and p_word ~ '^[a-z]{2,}$' and p_term ~ '^[a-z]{2,}$' then
    if soundex(p_word) = soundex(p_term) then
      likeness := likeness + (1 - likeness) * 0.25;
    end if;
    if dmetaphone(p_word) = dmetaphone(p_term) then
      likeness := likeness + (1 - likeness) * 0.3;
    end if;
  end if;
  if length(p_word) >= 3 and starts_with(p_term, p_word) then
    likeness := greatest(likeness, 0.86);
  end if;
  return likeness;
end $$;

-- Ids and scores of the customers in scope whose names are nearest to a text. Every word of the text finds the terms
-- that it may have been meant for; the likeliest pairs of terms find the customers that have both. A text of one
-- word, and one of which no two words are known together, finds customers by single terms.
create function match_customers(p_text text, p_courier uuid, p_limit integer)
returns table (id uuid, score double precision)
language plpgsql stable security definer rows 50 set search_path = public, pg_temp
set plan_cache_mode = force_generic_plan set jit = off set max_parallel_workers_per_gather = 0 as $$
#variable_conflict use_column
declare
  tenant constant uuid := app_tenant();
  courier constant uuid := case when app_sees_all_couriers() then p_courier else app_courier() end;
  scope constant uuid := coalesce(courier, tenant);
  words constant text[] := name_words(p_text);
  -- one entry a likely term: the first and the last word it stands for, the term, its likeness
  froms integer[];
  tos integer[];
  terms text[];
  likes double precision[];
  pairs bigint[];
  singles bigint[];
  ids uuid[] := '{}';
begin
  if cardinality(words) = 0 or (courier is null and not app_sees_all_couriers()) then
    return;
  end if;

  with units as (
    select n as first_word, n as last_word, words[n] as word from generate_subscripts(words, 1) n
    union all
    -- O Garro for O'Garro
    select n, n + 1, left(words[n] || words[n + 1], 40) from generate_series(1, cardinality(words) - 1) n
  ), spoken as materialized (
    select *, soundex(word) as sound, dmetaphone(word) as phone from units
  ), likely as (
    select first_word, last_word, near.term, near.likeness
    from spoken cross join lateral (
      select term, term_likeness(word, term, swapped) as likeness
      from (
        select array_agg(overlay(word placing reverse(substr(word, n, 2)) from n for 2)) as swapped
        from generate_series(1, length(word) - 1) n
      ) variants, (
        select distinct term from (
          -- offset 0: the keys are of this scope already, reading all that it has besides would only cost
          select * from customer_terms where keys && term_keys(scope, word) offset 0
        ) sharing
        where tenant_id = tenant and scope_id = scope
      ) sharing
      where levenshtein_less_equal(word, term, 4)
          <= case when first_word = last_word then least(4, greatest(length(word), length(term)) / 2) else 1 end
        or first_word = last_word and (length(word) >= 3 and starts_with(term, word)
          or abs(length(word) - length(term)) <= 2 and (sound = soundex(term) or phone = dmetaphone(term)))
      order by likeness desc, length(term), term limit 40
    ) near
    where near.likeness >= 0.4
  )
  select array_agg(first_word), array_agg(last_word), array_agg(term), array_agg(likeness)
  into froms, tos, terms, likes from likely;
  if froms is null then
    return;
  end if;

  with likely as (
    select first_word, last_word, term, likeness, likeness * sum_length as weight
    from unnest(froms, tos, terms, likes) as likely (first_word, last_word, term, likeness),
      lateral (select sum(length(words[n])) as sum_length from generate_series(first_word, last_word) n) spelt
  ), paired as (
    select one.term as one, other.term as other, max(one.weight + other.weight) as weight
    from likely one join likely other on one.last_word < other.first_word and one.term <> other.term
      -- van der says nothing where there is more to go by
      and (cardinality(words) = 2 or length(one.term) > 3 or length(other.term) > 3)
    group by one.term, other.term order by weight desc, one.term, other.term limit 240
  ), alone as (
    select term_key(scope, term) as key, max(likeness) as weight from likely
    where first_word = 1 and last_word = cardinality(words) group by key
  )
  select (select array_agg(pair_key(scope, one, other) order by weight desc, one, other) from paired),
    (select array_agg(key order by weight desc, key) from alone)
  into pairs, singles;

  ids := ids_by_name_keys(tenant, courier, pairs, p_limit * cardinality(words));
  if singles is not null then
    ids := ids || ids_by_name_keys(tenant, courier, singles, 2 * p_limit);
  end if;
  if cardinality(ids) = 0 then
    select array_agg(key order by likeness desc, key) into singles
    from (
      select term_key(scope, term) as key, max(likeness) as likeness
      from unnest(terms, likes) as likely (term, likeness) where likeness >= 0.6
      group by key order by likeness desc, key limit 10
    ) best;
    ids := ids_by_name_keys(tenant, courier, singles, 2 * p_limit);
  end if;

  return query
  with names as (
    -- repeats beyond what is asked for are not needed; with their ids at hand no name is joined to its people again
    select row_number() over () as n, first_name, last_name, (array_agg(c.id order by c.id))[1:p_limit] as owners,
      customer_name_terms(first_name, last_name) as had,
      cardinality(name_words(first_name)) + cardinality(name_words(last_name)) as word_count
    from customers c where c.tenant_id = tenant and c.id = any (ids) group by first_name, last_name
  ), met as (
    -- the best that each word of the text finds in each name, and where in the name it is
    select distinct on (n, word) n, word, place, likeness, first_name, last_name, owners, word_count
    from names, unnest(had) with ordinality own (term, place)
      join unnest(froms, tos, terms, likes) as likely (first_word, last_word, term, likeness) using (term),
      generate_series(first_word, last_word) word
    order by n, word, likeness desc, place
  ), scored as (
    select first_name, last_name, owners,
      sum(likeness * length(words[word])) / (select sum(length(w)) from unnest(words) w)
        -- swapped names are a little less likely than the same in order, and so is a name with more to it
        - case when (array_agg(place order by word))[1] > (array_agg(place order by word desc))[1] then 0.02 else 0 end
        - 0.02 * greatest(0, least(word_count, 5) - count(distinct place)) as likeness
    from met group by n, first_name, last_name, owners, word_count
  ), ranked as (
    select owner, first_name, last_name,
      -- of guesses, another name comes before the same name again; whoever typed a name exactly wants all who have it
      likeness - case when likeness > 0.99 then 0 else 0.01 * least(20, repeat - 1) end as likeness
    from scored, unnest(owners) with ordinality own (owner, repeat)
  )
  select owner, round((100 * likeness)::numeric, 2)::double precision from ranked
  order by 2 desc, last_name, first_name, owner limit p_limit;
end $$;

-- Ids of the customers that have the likeliest of these keys, which come with the likeliest first: a few keys at a
-- time, until there are so many names.
create function ids_by_name_keys(p_tenant uuid, p_courier uuid, p_keys bigint[], p_names integer) returns uuid[]
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
      -- offset 0, as above: no other index is to be read beside that of the keys
      select * from customers where customer_name_keys(tenant_id, courier_id, first_name, last_name)
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

grant create on schema public to crossdock_lookup;
alter function missing_customer_terms(uuid, uuid[], text[]) owner to crossdock_lookup;
alter function search_customers(text, uuid, integer) owner to crossdock_lookup;
alter function match_customers(text, uuid, integer) owner to crossdock_lookup;
revoke create on schema public from crossdock_lookup;

revoke all on function missing_customer_terms(uuid, uuid[], text[]), search_customers(text, uuid, integer),
  match_customers(text, uuid, integer), prune_customer_terms() from public;
grant execute on function missing_customer_terms(uuid, uuid[], text[]), search_customers(text, uuid, integer),
  match_customers(text, uuid, integer) to crossdock_app;

-- The customers that there are already; FORCE binds the schema's owner too, for whom no tenant is in scope.
do $$
begin
  alter table customers no force row level security;
  alter table customer_terms no force row level security;
  insert into customer_terms (tenant_id, id, scope_id, term, keys)
  select tenant_id, gen_random_uuid(), scope_id, term, term_keys(scope_id, term)
  from (
    select tenant_id, courier_id as scope_id, term from customers, unnest(customer_name_terms(first_name, last_name)) term
    union
    select tenant_id, tenant_id, term from customers, unnest(customer_name_terms(first_name, last_name)) term
  ) wanted;
  alter table customers force row level security;
  alter table customer_terms force row level security;
end $$;
