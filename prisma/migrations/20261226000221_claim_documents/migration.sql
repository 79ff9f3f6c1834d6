-- upgrade: rolling
-- Documents that prove the claims of couriers (docs/decisions/0120). They are deleted with their claim.
create table claim_documents (
  tenant_id uuid not null,
  id uuid not null,
  claim_id uuid not null,
  courier_id uuid not null,
  media_type text not null check (media_type in ('application/pdf', 'image/jpeg', 'image/png')),
  content_hash text not null,
  content bytea not null check (octet_length(content) between 1 and 5242880),
  submitted_by uuid not null,
  created_at timestamptz(3) not null default current_timestamp,
  primary key (tenant_id, id),
  constraint claim_documents_tenant_id_claim_id_fkey foreign key (tenant_id, claim_id)
    references parcel_claims (tenant_id, id) on delete cascade on update restrict
);

-- Files are compressed already.
alter table claim_documents alter column content set storage external;

create unique index claim_documents_tenant_id_claim_id_content_hash_key on claim_documents (tenant_id, claim_id, content_hash);

alter table claim_documents enable row level security;
alter table claim_documents force row level security;
create policy courier_scope on claim_documents
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));

grant select, insert, update, delete on claim_documents to crossdock_app;
