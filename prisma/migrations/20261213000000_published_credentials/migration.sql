-- upgrade: rolling
-- A start in staging and production looks for published credentials in the rows of all tenants (docs/decisions/0067). It has no
-- scope, so these functions run as crossdock_lookup.

create policy lookup_reads on users for select to crossdock_lookup using (true);
create policy lookup_reads on couriers for select to crossdock_lookup using (true);
grant select (tenant_id, id, username, password_hash, totp_secret) on users to crossdock_lookup;
grant select (tenant_id, code, api_key_hash) on couriers to crossdock_lookup;

-- The password hashes that may be of a published password: those of the given tenants, and those that several users share. bcrypt
-- salts each hash, so only rows that a program has loaded share one.
create function suspect_passwords(p_tenants uuid[])
returns table (tenant_id uuid, tenant text, password_hash text, usernames text[])
language sql stable security definer set search_path = public, pg_temp as $$
  select u.tenant_id, t.slug, u.password_hash, (array_agg(u.username order by u.username))[1:5]
  from users u join tenants t on t.id = u.tenant_id
  where u.tenant_id = any(p_tenants)
    or u.password_hash in (select s.password_hash from users s group by 1 having count(*) > 1 order by count(*) desc limit 8)
  group by 1, 2, 3 order by count(*) desc, 2, 3 limit 500
$$;

-- The encrypted authenticator secrets of the given tenants.
create function suspect_authenticators(p_tenants uuid[])
returns table (tenant_id uuid, tenant text, user_id uuid, username text, totp_secret text)
language sql stable security definer set search_path = public, pg_temp as $$
  select u.tenant_id, t.slug, u.id, u.username, u.totp_secret from users u join tenants t on t.id = u.tenant_id
  where u.tenant_id = any(p_tenants) and u.totp_secret is not null order by 2, 4 limit 100
$$;

create function couriers_with_keys(p_hashes text[]) returns table (tenant_id uuid, tenant text, code text)
language sql stable security definer set search_path = public, pg_temp as $$
  select t.id, t.slug, c.code from tenants t join couriers c on c.tenant_id = t.id and c.api_key_hash = any(p_hashes)
  order by 2, 3 limit 100
$$;

grant create on schema public to crossdock_lookup;
alter function suspect_passwords(uuid[]) owner to crossdock_lookup;
alter function suspect_authenticators(uuid[]) owner to crossdock_lookup;
alter function couriers_with_keys(text[]) owner to crossdock_lookup;
revoke create on schema public from crossdock_lookup;

revoke all on function suspect_passwords(uuid[]) from public;
revoke all on function suspect_authenticators(uuid[]) from public;
revoke all on function couriers_with_keys(text[]) from public;
grant execute on function suspect_passwords(uuid[]) to crossdock_app;
grant execute on function suspect_authenticators(uuid[]) to crossdock_app;
grant execute on function couriers_with_keys(text[]) to crossdock_app;
