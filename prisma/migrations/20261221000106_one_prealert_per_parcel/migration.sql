-- upgrade: rolling
-- reviewed: unique index prealerts_tenant_id_courier_id_announced_key_key added: the previous release writes null, which is never a duplicate
-- One pre-alert per courier and parcel (docs/decisions/0104).
create unique index concurrently if not exists prealerts_tenant_id_courier_id_announced_key_key
  on prealerts (tenant_id, courier_id, announced_key);
