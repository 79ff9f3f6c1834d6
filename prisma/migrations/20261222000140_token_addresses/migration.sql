-- upgrade: rolling
-- reviewed: constraint service_tokens.addresses_are_networks added: the last release has no service tokens, and what it rejects fails each request
-- An address with a zone (fe80::1%eth0) is no inet, so each request with its token failed with 500 in enter_with_service_token. Zones are
-- removed, as they are from the client's address there. They were never compared, so no token may be used from more addresses than its
-- owner has listed. Row-level security binds the owner too, so each tenant has its turn.
do $$
declare
  tenant uuid;
begin
  for tenant in select id from tenants loop
    perform set_config('app.tenant_id', tenant::text, true), set_config('app.courier_id', 'all', true);
    update service_tokens set addresses = array(
        select split_part(address, '%', 1) from unnest(addresses) with ordinality as listed (address, position) order by position)
      where array_to_string(addresses, ' ') like '%\%%';
  end loop;
  perform set_config('app.tenant_id', '', true), set_config('app.courier_id', '', true);
end $$;

-- Whatever writes an address that cannot be compared fails, instead of each request with the token.
alter table service_tokens add constraint addresses_are_networks check (addresses::inet[] is not null) not valid;
