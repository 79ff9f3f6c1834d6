-- upgrade: rolling
-- The addresses of clients are compared as IPv4, so an IPv4-mapped address or network (::ffff:10.0.0.0/104) matched none of them, and its token
-- was refused everywhere. Each becomes the IPv4 one that its owner meant. One that has more than the mapped addresses, such as ::/0, stays.
-- Row-level security binds the owner too, so each tenant has its turn.
do $$
declare
  tenant uuid;
begin
  for tenant in select id from tenants loop
    perform set_config('app.tenant_id', tenant::text, true), set_config('app.courier_id', 'all', true);
    update service_tokens set addresses = array(
        select case
            when family(address::inet) = 4 or not address::inet <<= '::ffff:0:0/96' then address
            when masklen(address::inet) = 128 then host('0.0.0.0'::inet + (address::inet - '::ffff:0:0'::inet))
            else network(set_masklen('0.0.0.0'::inet + (set_masklen(address::inet, 128) - '::ffff:0:0'::inet), masklen(address::inet) - 96))::text
          end
        from unnest(addresses) with ordinality as listed (address, position) order by position)
      where exists (select from unnest(addresses) as listed (address)
        where family(address::inet) = 6 and address::inet <<= '::ffff:0:0/96');
  end loop;
  perform set_config('app.tenant_id', '', true), set_config('app.courier_id', '', true);
end $$;
