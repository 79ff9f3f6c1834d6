-- upgrade: rolling
-- Named credentials of machines (docs/decisions/0116). Servers of the previous release refuse them as tokens of users that are damaged.
create table service_tokens (
  tenant_id uuid not null,
  id uuid not null,
  courier_id uuid,
  name text not null check (length(name) between 1 and 100),
  scopes text[],
  addresses text[] default array[]::text[],
  token_hash text not null,
  digest_cipher text not null,
  hint text not null,
  previous_hash text,
  previous_digest_cipher text,
  previous_hint text,
  previous_ends_at timestamptz(3),
  rotated_at timestamptz(3),
  expires_at timestamptz(3) not null,
  created_by uuid not null,
  created_at timestamptz(3) not null default current_timestamp,
  last_used_at timestamptz(3),
  last_used_address text,
  revoked_at timestamptz(3),
  primary key (tenant_id, id),
  constraint service_tokens_tenant_id_fkey foreign key (tenant_id) references tenants (id) on delete cascade on update cascade,
  constraint service_tokens_tenant_id_courier_id_fkey foreign key (tenant_id, courier_id)
    references couriers (tenant_id, id) on delete cascade on update restrict,
  constraint scopes_are_known check (scopes is not null and cardinality(scopes) > 0 and scopes <@ array['packages:read',
    'prealerts:write', 'customers:write', 'webhooks:manage', 'bills:read', 'intake:write', 'manifests:write']),
  constraint couriers_have_no_scope_of_staff check (courier_id is null or not scopes && array['intake:write', 'manifests:write']),
  constraint addresses_are_listed check (addresses is not null),
  constraint previous_secret_is_whole check ((previous_hash is null) = (previous_ends_at is null)
    and (previous_hash is null) = (previous_digest_cipher is null) and (previous_hash is null) = (previous_hint is null))
);

create index service_tokens_tenant_id_courier_id_created_at_id_idx on service_tokens (tenant_id, courier_id, created_at, id);
-- For retention. Tokens that were revoked stay for 90 days, and an owner may make many.
create index service_tokens_end on service_tokens (tenant_id, coalesce(revoked_at, expires_at));

-- Half full, so that writing last_used_at stays on the page (a HOT update).
alter table service_tokens set (fillfactor = 50);

alter table service_tokens enable row level security;
alter table service_tokens force row level security;
create policy courier_scope on service_tokens
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));

grant select, insert, update, delete on service_tokens to crossdock_app;

-- Checks a service token and enters the scope of its courier, or of the whole tenant. The token claims its id and its courier, and the
-- hash proves the claim. Without a scope an operation takes no service token.
create function enter_with_service_token(p_tenant uuid, p_token uuid, p_hash text, p_courier uuid, p_scopes text[], p_address text)
returns table (outcome text, courier_id uuid)
language plpgsql as $$
declare
  token service_tokens;
  courier_is_active boolean;
  is_elsewhere boolean;
begin
  perform set_config('app.tenant_id', p_tenant::text, true), set_config('app.courier_id', 'all', true);
  is_elsewhere := exists (select from installation.tenant_cells cell
    where cell.tenant_id = p_tenant and cell.state not in ('active', 'moving'));
  select t.* into token from service_tokens t
    where t.tenant_id = p_tenant and t.id = p_token and p_hash in (t.token_hash, t.previous_hash)
      and t.courier_id is not distinct from p_courier;
  courier_is_active := p_courier is null
    or exists (select from couriers c where c.tenant_id = p_tenant and c.id = p_courier and c.is_active);
  outcome := case
    when is_elsewhere then 'unavailable'
    when token.id is null then 'service_token_invalid'
    when token.revoked_at is not null then 'service_token_revoked'
    when token.expires_at <= now() then 'service_token_expired'
    when token.token_hash <> p_hash and token.previous_ends_at <= now() then 'service_token_replaced'
    when not courier_is_active then 'account_disabled'
    when cardinality(token.addresses) > 0
      and not exists (select from unnest(token.addresses) as allowed where split_part(p_address, '%', 1)::inet <<= allowed::inet)
      then 'address_not_allowed'
    when cardinality(p_scopes) = 0 then 'token_not_accepted'
    when not token.scopes && p_scopes then 'scope_missing'
    else 'ok' end;
  if outcome <> 'ok' then
    perform set_config('app.tenant_id', '', true), set_config('app.courier_id', '', true);
  else
    enter_with_service_token.courier_id := token.courier_id;
    if token.courier_id is not null then
      perform set_config('app.courier_id', token.courier_id::text, true);
    end if;
  end if;
  return next;
end $$;
