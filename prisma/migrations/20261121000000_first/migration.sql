-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "tenants" (
    "id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tenants_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tenant_hosts" (
    "tenant_id" UUID NOT NULL,
    "host" TEXT NOT NULL,

    CONSTRAINT "tenant_hosts_pkey" PRIMARY KEY ("tenant_id","host")
);

-- CreateTable
CREATE TABLE "users" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "username" TEXT NOT NULL,
    "full_name" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "courier_id" UUID,
    "password_hash" TEXT NOT NULL,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "token_version" INTEGER NOT NULL DEFAULT 1,
    "two_factor_enabled" BOOLEAN NOT NULL DEFAULT false,
    "totp_secret" TEXT,
    "totp_last_step" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "users_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "backup_codes" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "code_hash" TEXT NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "backup_codes_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "preauth_tokens" (
    "tenant_id" UUID NOT NULL,
    "token_hash" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "consumed_at" TIMESTAMPTZ(3),

    CONSTRAINT "preauth_tokens_pkey" PRIMARY KEY ("tenant_id","token_hash")
);

-- CreateTable
CREATE TABLE "login_throttles" (
    "tenant_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "locked_until" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "login_throttles_pkey" PRIMARY KEY ("tenant_id","kind","subject")
);

-- CreateTable
CREATE TABLE "couriers" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "code" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "company_name" TEXT,
    "email" TEXT,
    "phone_number1" TEXT,
    "phone_number2" TEXT,
    "address1" TEXT,
    "address2" TEXT,
    "city_town" TEXT,
    "parish_province" TEXT,
    "house_color" TEXT,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "api_key_hash" TEXT,
    "api_key_cipher" TEXT,
    "api_url_get_customers" TEXT,
    "api_url_add_package" TEXT,
    "api_url_update_package" TEXT,
    "api_token_cipher" TEXT,
    "air_freight_rate" DECIMAL(10,2) NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "couriers_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "customers" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "courier_id" UUID NOT NULL,
    "user_code" TEXT NOT NULL,
    "first_name" TEXT NOT NULL,
    "last_name" TEXT NOT NULL,
    "branch" TEXT,
    "email" TEXT,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "customers_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "carriers" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,

    CONSTRAINT "carriers_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "airlines" (
    "tenant_id" UUID NOT NULL,
    "prefix" TEXT NOT NULL,
    "name" TEXT NOT NULL,

    CONSTRAINT "airlines_pkey" PRIMARY KEY ("tenant_id","prefix")
);

-- CreateTable
CREATE TABLE "warehouses" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "is_primary" BOOLEAN NOT NULL DEFAULT false,
    "address" TEXT,
    "city" TEXT,
    "country" TEXT,
    "phone" TEXT,
    "email" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "warehouses_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "prealerts" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "courier_id" UUID NOT NULL,
    "user_code" TEXT NOT NULL,
    "tracking_number" TEXT NOT NULL,
    "tracking_key" TEXT NOT NULL,
    "vendor" TEXT,
    "description" TEXT,
    "reference" TEXT,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "prealerts_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "prealert_tallies" (
    "tenant_id" UUID NOT NULL,
    "courier_id" UUID NOT NULL,
    "status" TEXT NOT NULL,
    "slot" SMALLINT NOT NULL,
    "total" INTEGER NOT NULL,

    CONSTRAINT "prealert_tallies_pkey" PRIMARY KEY ("tenant_id","courier_id","status","slot")
);

-- CreateTable
CREATE TABLE "packages" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "courier_id" UUID,
    "user_code" TEXT,
    "first_name" TEXT,
    "last_name" TEXT,
    "tracking_number" TEXT NOT NULL,
    "tracking_key" TEXT NOT NULL,
    "house_number" TEXT NOT NULL,
    "weight_lb" DECIMAL(8,3) NOT NULL,
    "length_in" DECIMAL(6,2),
    "width_in" DECIMAL(6,2),
    "height_in" DECIMAL(6,2),
    "package_type" TEXT,
    "shipper" TEXT,
    "description" TEXT,
    "status" TEXT NOT NULL DEFAULT 'received',
    "carrier_id" UUID,
    "warehouse_id" UUID NOT NULL,
    "manifest_id" UUID,
    "prealert_id" UUID,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "packages_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "package_events" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "package_id" UUID NOT NULL,
    "courier_id" UUID,
    "previous_status" TEXT,
    "status" TEXT NOT NULL,
    "actor_user_id" UUID,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "package_events_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "manifests" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "manifest_number" TEXT NOT NULL,
    "awb_number" TEXT,
    "airline_prefix" TEXT,
    "flight_date" DATE,
    "flight_number" TEXT,
    "status" TEXT NOT NULL DEFAULT 'draft',
    "notes" TEXT,
    "warehouse_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "manifests_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "rate_tiers" (
    "tenant_id" UUID NOT NULL,
    "id" SERIAL NOT NULL,
    "courier_id" UUID,
    "start_weight_lb" DECIMAL(8,3) NOT NULL,
    "end_weight_lb" DECIMAL(8,3) NOT NULL,
    "fee_usd" DECIMAL(10,2) NOT NULL,

    CONSTRAINT "rate_tiers_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "bills" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "invoice_number" TEXT NOT NULL,
    "courier_id" UUID NOT NULL,
    "service_type" TEXT NOT NULL,
    "start_date" DATE NOT NULL,
    "end_date" DATE NOT NULL,
    "total_packages" INTEGER NOT NULL,
    "subtotal" DECIMAL(12,2) NOT NULL,
    "tax_amount" DECIMAL(12,2) NOT NULL,
    "total_amount" DECIMAL(12,2) NOT NULL,
    "paid_amount" DECIMAL(12,2) NOT NULL DEFAULT 0,
    "status" TEXT NOT NULL DEFAULT 'draft',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "bills_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "audit_entries" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "actor_kind" TEXT NOT NULL,
    "actor_id" UUID,
    "action" TEXT NOT NULL,
    "entity" TEXT NOT NULL,
    "entity_id" UUID NOT NULL,
    "before" JSONB,
    "after" JSONB,
    "remarks" TEXT,
    "request_id" TEXT NOT NULL,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "jobs" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "courier_id" UUID,
    "payload" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "jobs_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateIndex
CREATE UNIQUE INDEX "tenants_slug_key" ON "tenants"("slug");

-- CreateIndex
CREATE UNIQUE INDEX "tenant_hosts_host_key" ON "tenant_hosts"("host");

-- CreateIndex
CREATE INDEX "users_tenant_id_courier_id_idx" ON "users"("tenant_id", "courier_id");

-- CreateIndex
CREATE UNIQUE INDEX "users_tenant_id_username_key" ON "users"("tenant_id", "username");

-- CreateIndex
CREATE UNIQUE INDEX "backup_codes_tenant_id_user_id_code_hash_key" ON "backup_codes"("tenant_id", "user_id", "code_hash");

-- CreateIndex
CREATE INDEX "preauth_tokens_tenant_id_user_id_idx" ON "preauth_tokens"("tenant_id", "user_id");

-- CreateIndex
CREATE INDEX "preauth_tokens_tenant_id_expires_at_idx" ON "preauth_tokens"("tenant_id", "expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "couriers_tenant_id_code_key" ON "couriers"("tenant_id", "code");

-- CreateIndex
CREATE UNIQUE INDEX "couriers_tenant_id_api_key_hash_key" ON "couriers"("tenant_id", "api_key_hash");

-- CreateIndex
CREATE UNIQUE INDEX "customers_tenant_id_courier_id_user_code_key" ON "customers"("tenant_id", "courier_id", "user_code");

-- CreateIndex
CREATE UNIQUE INDEX "carriers_tenant_id_name_key" ON "carriers"("tenant_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "warehouses_tenant_id_name_key" ON "warehouses"("tenant_id", "name");

-- CreateIndex
CREATE INDEX "prealerts_tenant_id_tracking_key_idx" ON "prealerts"("tenant_id", "tracking_key");

-- CreateIndex
CREATE INDEX "prealerts_tenant_id_created_at_id_idx" ON "prealerts"("tenant_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "prealerts_tenant_id_courier_id_created_at_id_idx" ON "prealerts"("tenant_id", "courier_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "prealerts_tenant_id_status_created_at_id_idx" ON "prealerts"("tenant_id", "status", "created_at", "id");

-- CreateIndex
CREATE INDEX "prealerts_tenant_id_courier_id_status_created_at_id_idx" ON "prealerts"("tenant_id", "courier_id", "status", "created_at", "id");

-- CreateIndex
CREATE INDEX "prealerts_tenant_id_tracking_number_id_idx" ON "prealerts"("tenant_id", "tracking_number", "id");

-- CreateIndex
CREATE INDEX "prealerts_tenant_id_vendor_id_idx" ON "prealerts"("tenant_id", "vendor", "id");

-- CreateIndex
CREATE INDEX "prealerts_tenant_id_courier_id_vendor_id_idx" ON "prealerts"("tenant_id", "courier_id", "vendor", "id");

-- CreateIndex
CREATE INDEX "prealerts_tenant_id_user_code_id_idx" ON "prealerts"("tenant_id", "user_code", "id");

-- CreateIndex
CREATE INDEX "prealerts_tenant_id_courier_id_user_code_id_idx" ON "prealerts"("tenant_id", "courier_id", "user_code", "id");

-- CreateIndex
CREATE UNIQUE INDEX "prealerts_tenant_id_courier_id_tracking_number_key" ON "prealerts"("tenant_id", "courier_id", "tracking_number");

-- CreateIndex
CREATE INDEX "packages_tenant_id_received_at_id_idx" ON "packages"("tenant_id", "received_at", "id");

-- CreateIndex
CREATE INDEX "packages_tenant_id_courier_id_received_at_id_idx" ON "packages"("tenant_id", "courier_id", "received_at", "id");

-- CreateIndex
CREATE INDEX "packages_tenant_id_manifest_id_courier_id_idx" ON "packages"("tenant_id", "manifest_id", "courier_id");

-- CreateIndex
CREATE INDEX "packages_tenant_id_user_code_received_at_idx" ON "packages"("tenant_id", "user_code", "received_at");

-- CreateIndex
CREATE INDEX "packages_tenant_id_carrier_id_received_at_idx" ON "packages"("tenant_id", "carrier_id", "received_at");

-- CreateIndex
CREATE UNIQUE INDEX "packages_tenant_id_house_number_key" ON "packages"("tenant_id", "house_number");

-- CreateIndex
CREATE UNIQUE INDEX "packages_tenant_id_tracking_key_key" ON "packages"("tenant_id", "tracking_key");

-- CreateIndex
CREATE INDEX "package_events_tenant_id_package_id_occurred_at_id_idx" ON "package_events"("tenant_id", "package_id", "occurred_at", "id");

-- CreateIndex
CREATE INDEX "manifests_tenant_id_created_at_id_idx" ON "manifests"("tenant_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "manifests_tenant_id_manifest_number_key" ON "manifests"("tenant_id", "manifest_number");

-- CreateIndex
CREATE INDEX "rate_tiers_tenant_id_courier_id_start_weight_lb_idx" ON "rate_tiers"("tenant_id", "courier_id", "start_weight_lb");

-- CreateIndex
CREATE INDEX "bills_tenant_id_courier_id_created_at_idx" ON "bills"("tenant_id", "courier_id", "created_at");

-- CreateIndex
CREATE INDEX "bills_tenant_id_created_at_idx" ON "bills"("tenant_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "bills_tenant_id_invoice_number_key" ON "bills"("tenant_id", "invoice_number");

-- CreateIndex
CREATE INDEX "audit_entries_tenant_id_entity_entity_id_at_idx" ON "audit_entries"("tenant_id", "entity", "entity_id", "at");

-- CreateIndex
CREATE INDEX "jobs_tenant_id_created_at_id_idx" ON "jobs"("tenant_id", "created_at", "id");

-- AddForeignKey
ALTER TABLE "tenant_hosts" ADD CONSTRAINT "tenant_hosts_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "users" ADD CONSTRAINT "users_tenant_id_courier_id_fkey" FOREIGN KEY ("tenant_id", "courier_id") REFERENCES "couriers"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "backup_codes" ADD CONSTRAINT "backup_codes_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users"("tenant_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "preauth_tokens" ADD CONSTRAINT "preauth_tokens_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users"("tenant_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "couriers" ADD CONSTRAINT "couriers_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "customers" ADD CONSTRAINT "customers_tenant_id_courier_id_fkey" FOREIGN KEY ("tenant_id", "courier_id") REFERENCES "couriers"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "carriers" ADD CONSTRAINT "carriers_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "airlines" ADD CONSTRAINT "airlines_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "warehouses" ADD CONSTRAINT "warehouses_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "prealerts" ADD CONSTRAINT "prealerts_tenant_id_courier_id_fkey" FOREIGN KEY ("tenant_id", "courier_id") REFERENCES "couriers"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "packages" ADD CONSTRAINT "packages_tenant_id_courier_id_fkey" FOREIGN KEY ("tenant_id", "courier_id") REFERENCES "couriers"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "packages" ADD CONSTRAINT "packages_tenant_id_carrier_id_fkey" FOREIGN KEY ("tenant_id", "carrier_id") REFERENCES "carriers"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "packages" ADD CONSTRAINT "packages_tenant_id_warehouse_id_fkey" FOREIGN KEY ("tenant_id", "warehouse_id") REFERENCES "warehouses"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "packages" ADD CONSTRAINT "packages_tenant_id_manifest_id_fkey" FOREIGN KEY ("tenant_id", "manifest_id") REFERENCES "manifests"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "package_events" ADD CONSTRAINT "package_events_tenant_id_package_id_fkey" FOREIGN KEY ("tenant_id", "package_id") REFERENCES "packages"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "manifests" ADD CONSTRAINT "manifests_tenant_id_warehouse_id_fkey" FOREIGN KEY ("tenant_id", "warehouse_id") REFERENCES "warehouses"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "rate_tiers" ADD CONSTRAINT "rate_tiers_tenant_id_courier_id_fkey" FOREIGN KEY ("tenant_id", "courier_id") REFERENCES "couriers"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "bills" ADD CONSTRAINT "bills_tenant_id_courier_id_fkey" FOREIGN KEY ("tenant_id", "courier_id") REFERENCES "couriers"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;


-- ---------------------------------------------------------------------------------------------------
-- From here on: what schema.prisma cannot say. A new table needs its policies here, a catalogue test asks.

-- Trigram search and non-overlapping weight bands. Both are trusted extensions: the owner of the database
-- may create them without being a superuser.
create extension if not exists pg_trgm;
create extension if not exists btree_gist;

-- Roles ----------------------------------------------------------------------------------------------
-- crossdock_app: what the service may do; it owns nothing. In production a login role is a member of it.
-- crossdock_lookup: owns the functions that must look before a scope is known, or through indexes that
-- row-level security closes (see search_prealerts). Nobody logs in as either.
do $$
begin
  begin
    create role crossdock_app nologin nosuperuser nobypassrls;
  exception when duplicate_object or unique_violation then null;
  end;
  begin
    create role crossdock_lookup nologin nosuperuser nobypassrls;
  exception when duplicate_object or unique_violation then null;
  end;
  execute format('grant crossdock_app, crossdock_lookup to %I', current_user);
end $$;

grant usage on schema public to crossdock_app, crossdock_lookup;

-- The scope of a transaction ---------------------------------------------------------------------------
-- Both settings are transaction-local. Unset or empty means no rows.

create function app_tenant() returns uuid
language sql stable parallel safe
return nullif(current_setting('app.tenant_id', true), '')::uuid;

create function app_sees_all_couriers() returns boolean
language sql stable parallel safe
return coalesce(current_setting('app.courier_id', true) = 'all', false);

-- Null for staff, whose scope is the word all, and when unset.
create function app_courier() returns uuid
language sql stable parallel safe
return nullif(nullif(current_setting('app.courier_id', true), ''), 'all')::uuid;

-- Row-level security -----------------------------------------------------------------------------------
-- The scope is asked in sub-selects, once a statement; bare calls would be made for every row.

do $$
declare
  name text;
begin
  foreach name in array array['tenants', 'tenant_hosts', 'users', 'backup_codes', 'preauth_tokens', 'login_throttles',
    'couriers', 'customers', 'carriers', 'airlines', 'warehouses', 'prealerts', 'prealert_tallies', 'packages',
    'package_events', 'manifests', 'rate_tiers', 'bills', 'audit_entries', 'jobs']
  loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
  end loop;

  -- A courier's rows: its own; staff: the tenant's.
  foreach name in array array['users', 'customers', 'prealerts', 'prealert_tallies', 'packages', 'jobs']
  loop
    execute format(
      'create policy courier_scope on %I
       using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
       with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))', name);
  end loop;

  -- The tenant's own registers: everybody of the tenant reads them, staff write them.
  foreach name in array array['carriers', 'airlines', 'warehouses']
  loop
    execute format('create policy tenant_reads on %I for select using (tenant_id = app_tenant())', name);
    execute format(
      'create policy staff_writes on %I
       using (tenant_id = app_tenant() and (select app_sees_all_couriers()))
       with check (tenant_id = app_tenant() and (select app_sees_all_couriers()))', name);
  end loop;

  -- What the sign-in keeps; no courier reads it.
  foreach name in array array['backup_codes', 'preauth_tokens', 'login_throttles']
  loop
    execute format(
      'create policy staff_scope on %I
       using (tenant_id = app_tenant() and (select app_sees_all_couriers()))
       with check (tenant_id = app_tenant() and (select app_sees_all_couriers()))', name);
  end loop;
end $$;

create policy own_tenant on tenants for select using (id = app_tenant());
create policy own_tenant on tenant_hosts for select using (tenant_id = app_tenant());

-- Tenants are made by the schema's owner alone (npm run tenant:create); FORCE binds it too.
do $$
begin
  execute format('create policy owner_registers on tenants to %I using (true) with check (true)', current_user);
  execute format('create policy owner_registers on tenant_hosts to %I using (true) with check (true)', current_user);
end $$;

create policy courier_scope on couriers
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or id = (select app_courier())));

-- A courier sees a manifest if a package of its own is aboard; the inner query runs under packages' policy.
create policy courier_aboard on manifests for select
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or exists (
    select from packages where packages.tenant_id = manifests.tenant_id and packages.manifest_id = manifests.id
      and packages.courier_id = (select app_courier()))));
create policy staff_writes on manifests
  using (tenant_id = app_tenant() and (select app_sees_all_couriers()))
  with check (tenant_id = app_tenant() and (select app_sees_all_couriers()));

create policy courier_scope on package_events for select
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
create policy courier_appends on package_events for insert
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));

-- A courier is billed by its own tiers, or by the tenant's default ones.
create policy tier_scope on rate_tiers for select
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id is null or courier_id = (select app_courier())));
create policy staff_writes on rate_tiers
  using (tenant_id = app_tenant() and (select app_sees_all_couriers()))
  with check (tenant_id = app_tenant() and (select app_sees_all_couriers()));

create policy bill_scope on bills for select
  using (tenant_id = app_tenant()
    and ((select app_sees_all_couriers()) or (courier_id = (select app_courier()) and status <> 'draft')));
create policy staff_writes on bills
  using (tenant_id = app_tenant() and (select app_sees_all_couriers()))
  with check (tenant_id = app_tenant() and (select app_sees_all_couriers()));

-- Everybody's changes are recorded, staff read the record.
create policy staff_reads on audit_entries for select using (tenant_id = app_tenant() and (select app_sees_all_couriers()));
create policy tenant_appends on audit_entries for insert
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or (select app_courier()) is not null));

-- Invariants -------------------------------------------------------------------------------------------

alter table tenant_hosts add constraint host_is_lower_case check (host = lower(host) and host <> '');

alter table users
  add constraint username_is_lower_case check (username = lower(username) and btrim(username) <> ''),
  add constraint role_is_known check (role in ('admin', 'manager', 'warehouse', 'courier')),
  add constraint courier_role_has_courier check ((role = 'courier') = (courier_id is not null)),
  add constraint two_factor_has_secret check (not two_factor_enabled or totp_secret is not null);

alter table login_throttles
  add constraint kind_is_known check (kind in ('password', 'code')),
  add constraint failures_not_negative check (failures >= 0);

alter table couriers
  add constraint code_not_blank check (btrim(code) <> ''),
  add constraint key_hash_with_cipher check ((api_key_hash is null) = (api_key_cipher is null)),
  add constraint house_color_is_hex check (house_color ~ '^#[0-9A-Fa-f]{6}$'),
  add constraint air_freight_rate_not_negative check (air_freight_rate >= 0);

alter table customers
  add constraint user_code_not_blank check (btrim(user_code) <> '' and length(user_code) <= 100);

alter table airlines add constraint prefix_is_three_digits check (prefix ~ '^[0-9]{3}$');

create unique index warehouses_one_primary on warehouses (tenant_id) where is_primary;

alter table prealerts
  add constraint status_is_known check (status in ('pending', 'received', 'flagged')),
  add constraint tracking_number_is_trimmed
    check (tracking_number = btrim(tracking_number) and tracking_number <> '' and length(tracking_number) <= 255),
  add constraint user_code_not_blank check (btrim(user_code) <> '' and length(user_code) <= 100);

alter table packages
  add constraint status_is_known check (status in
    ('received', 'shipped', 'in_transit', 'delivered', 'on_hold', 'customs_hold', 'returned', 'lost')),
  add constraint tracking_number_is_trimmed
    check (tracking_number = btrim(tracking_number) and tracking_number <> '' and length(tracking_number) <= 255),
  add constraint weighs_something check (weight_lb > 0),
  add constraint measures_something check (length_in > 0 and width_in > 0 and height_in > 0),
  add constraint customer_belongs_to_a_courier check (user_code is null or courier_id is not null);

alter table manifests
  add constraint status_is_known check (status in ('draft', 'ready', 'shipped', 'completed')),
  add constraint number_is_well_formed check (manifest_number ~ '^MAN-[0-9]{8}-[0-9A-Z]{4}$'),
  add constraint airline_prefix_is_three_digits check (airline_prefix ~ '^[0-9]{3}$');

-- Two bands of one table may share a bound, never an inside. Deferrable, so that a whole table can be
-- replaced row by row in one transaction.
alter table rate_tiers
  add constraint band_is_ordered check (start_weight_lb >= 0 and start_weight_lb <= end_weight_lb),
  add constraint fee_not_negative check (fee_usd >= 0),
  add constraint bands_do_not_overlap exclude using gist (
    tenant_id with =,
    coalesce(courier_id, '00000000-0000-0000-0000-000000000000') with =,
    numrange(start_weight_lb, end_weight_lb, '()') with &&
  ) deferrable initially deferred;

alter table bills
  add constraint status_is_known check (status in ('draft', 'published', 'paid')),
  add constraint period_is_ordered check (start_date <= end_date),
  add constraint total_is_the_sum check (total_amount = subtotal + tax_amount),
  add constraint never_paid_beyond_the_total check (paid_amount >= 0 and paid_amount <= total_amount),
  add constraint paid_means_in_full check (status <> 'paid' or paid_amount = total_amount);

alter table audit_entries
  add constraint actor_kind_is_known check (actor_kind in ('user', 'api_key', 'system'));

create function refuse_change() returns trigger
language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
end $$;

create trigger append_only before update or delete on audit_entries
  for each statement execute function refuse_change();
create trigger append_only before update or delete on package_events
  for each statement execute function refuse_change();

-- Counters of pre-alerts -------------------------------------------------------------------------------
-- 32 slots: two backends queue behind one row only when their process ids agree modulo 32.

create function tally_prealerts_added() returns trigger
language plpgsql as $$
begin
  insert into prealert_tallies as tally (tenant_id, courier_id, status, slot, total)
  select tenant_id, courier_id, status, pg_backend_pid() % 32, count(*)
  from added group by tenant_id, courier_id, status order by tenant_id, courier_id, status
  on conflict (tenant_id, courier_id, status, slot) do update set total = tally.total + excluded.total;
  return null;
end $$;

create function tally_prealerts_removed() returns trigger
language plpgsql as $$
begin
  insert into prealert_tallies as tally (tenant_id, courier_id, status, slot, total)
  select tenant_id, courier_id, status, pg_backend_pid() % 32, -count(*)
  from removed group by tenant_id, courier_id, status order by tenant_id, courier_id, status
  on conflict (tenant_id, courier_id, status, slot) do update set total = tally.total + excluded.total;
  return null;
end $$;

create function tally_prealerts_changed() returns trigger
language plpgsql as $$
begin
  insert into prealert_tallies as tally (tenant_id, courier_id, status, slot, total)
  select tenant_id, courier_id, status, pg_backend_pid() % 32, sum(step)
  from (
    select tenant_id, courier_id, status, 1 as step from added
    union all
    select tenant_id, courier_id, status, -1 from removed
  ) as steps
  group by tenant_id, courier_id, status having sum(step) <> 0 order by tenant_id, courier_id, status
  on conflict (tenant_id, courier_id, status, slot) do update set total = tally.total + excluded.total;
  return null;
end $$;

create trigger tally_added after insert on prealerts
  referencing new table as added for each statement execute function tally_prealerts_added();
create trigger tally_removed after delete on prealerts
  referencing old table as removed for each statement execute function tally_prealerts_removed();
create trigger tally_changed after update on prealerts
  referencing old table as removed new table as added for each statement execute function tally_prealerts_changed();

alter table prealert_tallies set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Entering a scope -------------------------------------------------------------------------------------
-- Each sets the transaction's scope and answers in the same round trip whether the caller may enter. A
-- refused caller's scope is empty, so that statements already sent behind it find and change nothing.

create function enter_as_user(p_tenant uuid, p_user uuid, p_token_version integer, p_expires_at bigint)
returns table (outcome text, courier_id uuid)
language plpgsql as $$
declare
  enabled boolean;
  version integer;
begin
  perform set_config('app.tenant_id', p_tenant::text, true), set_config('app.courier_id', 'all', true);
  select u.courier_id, u.token_version, u.is_active and coalesce(c.is_active, true)
    into enter_as_user.courier_id, version, enabled
    from users u left join couriers c on c.tenant_id = u.tenant_id and c.id = u.courier_id
    where u.tenant_id = p_tenant and u.id = p_user;
  outcome := case
    when version is null then 'token_invalid'
    when to_timestamp(p_expires_at) <= now() then 'token_expired'
    when not enabled then 'account_disabled'
    when version <> p_token_version then 'token_invalid'
    else 'ok' end;
  if outcome <> 'ok' then
    perform set_config('app.tenant_id', '', true), set_config('app.courier_id', '', true);
  elsif enter_as_user.courier_id is not null then
    perform set_config('app.courier_id', enter_as_user.courier_id::text, true);
  end if;
  return next;
end $$;

create function enter_with_key(p_tenant uuid, p_key_hash text)
returns table (outcome text, courier_id uuid)
language plpgsql as $$
begin
  perform set_config('app.tenant_id', p_tenant::text, true), set_config('app.courier_id', 'all', true);
  select c.id into enter_with_key.courier_id
    from couriers c where c.tenant_id = p_tenant and c.api_key_hash = p_key_hash and c.is_active;
  if found then
    outcome := 'ok';
    perform set_config('app.courier_id', enter_with_key.courier_id::text, true);
  else
    outcome := 'key_invalid';
    perform set_config('app.tenant_id', '', true), set_config('app.courier_id', '', true);
  end if;
  return next;
end $$;

-- Looking up without row-level security ------------------------------------------------------------------
-- PostgreSQL never uses an index for a condition that is not leakproof (ilike is not) on a table with row
-- security, so that a search under a policy reads the whole table. These functions run as crossdock_lookup,
-- whose policy shows it every row; they apply the scope themselves and hand out ids only, which the caller's
-- query then reads under its own policies.

create policy lookup_reads on tenants for select to crossdock_lookup using (true);
create policy lookup_reads on tenant_hosts for select to crossdock_lookup using (true);
create policy lookup_reads on prealerts for select to crossdock_lookup using (true);
create policy lookup_reads on customers for select to crossdock_lookup using (true);
create policy lookup_reads on packages for select to crossdock_lookup using (true);
grant select on tenants, tenant_hosts, prealerts, customers, packages to crossdock_lookup;

-- Which tenant answers on a host: its owner, else the owner of `*`, else the only tenant there is.
create function tenant_of_host(p_host text) returns uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(
    (select tenant_id from tenant_hosts where host = p_host),
    (select tenant_id from tenant_hosts where host = '*'),
    (select id from tenants where (select count(*) from tenants) = 1))
$$;

create index prealerts_text_trgm on prealerts
  using gin ((tracking_number || chr(31) || user_code || chr(31) || coalesce(vendor, '')) gin_trgm_ops);
create index customers_name_trgm on customers using gin ((first_name || ' ' || last_name) gin_trgm_ops);

-- Ids of the pre-alerts in scope whose number, code, vendor or customer's name matches an ilike pattern.
create function search_prealerts(p_pattern text) returns setof uuid
language sql stable security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
  select p.id from prealerts p
  where p.tenant_id = app_tenant() and (app_sees_all_couriers() or p.courier_id = app_courier())
    and (p.tracking_number || chr(31) || p.user_code || chr(31) || coalesce(p.vendor, '')) ilike p_pattern
  union
  select p.id from customers c
  join prealerts p on p.tenant_id = c.tenant_id and p.courier_id = c.courier_id and p.user_code = c.user_code
  where c.tenant_id = app_tenant() and (app_sees_all_couriers() or c.courier_id = app_courier())
    and (c.first_name || ' ' || c.last_name) ilike p_pattern
$$;

create index packages_text_trgm on packages
  using gin (tracking_number gin_trgm_ops, shipper gin_trgm_ops, first_name gin_trgm_ops, last_name gin_trgm_ops);

-- Ids of the packages in scope that match every ilike pattern given; null is no condition. Of a number that is
-- masked for a courier, whose customer is unknown, only what it may see is matched: the last four characters.
create function search_packages(p_number text, p_shipper text, p_first_name text, p_last_name text) returns setof uuid
language sql stable security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
  select p.id from packages p
  where p.tenant_id = app_tenant() and (app_sees_all_couriers() or p.courier_id = app_courier())
    and (p_number is null or (p.tracking_number ilike p_number and (app_sees_all_couriers() or p.user_code is not null
      or (length(p.tracking_number) > 4 and right(p.tracking_number, 4) ilike p_number))))
    and (p_shipper is null or p.shipper ilike p_shipper)
    and (p_first_name is null or p.first_name ilike p_first_name)
    and (p_last_name is null or p.last_name ilike p_last_name)
$$;

grant create on schema public to crossdock_lookup;
alter function search_packages(text, text, text, text) owner to crossdock_lookup;
alter function tenant_of_host(text) owner to crossdock_lookup;
alter function search_prealerts(text) owner to crossdock_lookup;
revoke create on schema public from crossdock_lookup;

-- Grants -----------------------------------------------------------------------------------------------

revoke all on function tenant_of_host(text), search_prealerts(text), search_packages(text, text, text, text) from public;
grant execute on function tenant_of_host(text), search_prealerts(text), search_packages(text, text, text, text)
  to crossdock_app;

-- /ready asks which migrations the database has.
grant select on _prisma_migrations to crossdock_app;
grant select on tenants, tenant_hosts to crossdock_app;
grant select, insert, update, delete on users, backup_codes, preauth_tokens, login_throttles, couriers, customers,
  carriers, airlines, warehouses, prealerts, prealert_tallies, packages, manifests, rate_tiers, bills, jobs to crossdock_app;
grant select, insert on package_events, audit_entries to crossdock_app;
grant usage on all sequences in schema public to crossdock_app;
