-- upgrade: rolling
-- Payment terms and due dates of bills (docs/decisions/0119). Servers of the previous release publish bills without a due date, which
-- are due 30 days after their publication, as older bills are.
alter table bills add column due_date date;

create table payment_terms (
  tenant_id uuid not null,
  id uuid not null,
  courier_id uuid,
  days smallint not null check (days between 0 and 365),
  updated_at timestamptz(3) not null default current_timestamp,
  primary key (tenant_id, id),
  constraint payment_terms_tenant_id_fkey foreign key (tenant_id) references tenants (id) on delete cascade on update cascade,
  constraint payment_terms_tenant_id_courier_id_fkey foreign key (tenant_id, courier_id)
    references couriers (tenant_id, id) on delete cascade on update restrict
);

-- One row per courier, and one for the tenant.
create unique index payment_terms_owner on payment_terms (tenant_id, coalesce(courier_id, tenant_id));

alter table payment_terms enable row level security;
alter table payment_terms force row level security;
create policy staff_writes on payment_terms
  using (tenant_id = app_tenant() and (select app_sees_all_couriers()))
  with check (tenant_id = app_tenant() and (select app_sees_all_couriers()));

grant select, insert, update, delete on payment_terms to crossdock_app;
