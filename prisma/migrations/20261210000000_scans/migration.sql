-- upgrade: rolling
-- reviewed: trigger follow_tracking_key on packages added: it runs only if staff correct a number, and finds no scans of the previous release.
-- Scans of stations (docs/decisions/0061) and the loading gate (docs/decisions/0062).

-- CreateTable
CREATE TABLE "scans" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "station" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "scanned_at" TIMESTAMPTZ(3) NOT NULL,
    "arrived_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "user_id" UUID NOT NULL,
    "scan" TEXT NOT NULL,
    "parcel_key" TEXT NOT NULL,
    "details" JSONB NOT NULL,
    "content_hash" TEXT NOT NULL,
    "manifest_id" UUID,
    "is_admitted" BOOLEAN NOT NULL DEFAULT true,
    "event_id" UUID,
    "outcome" TEXT NOT NULL,
    "reason" TEXT,

    CONSTRAINT "scans_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "parcel_positions" (
    "tenant_id" UUID NOT NULL,
    "parcel_key" TEXT NOT NULL,
    "scan" TEXT NOT NULL,
    "location" TEXT,
    "manifest_id" UUID,
    "loaded_at" TIMESTAMPTZ(3),
    "station" TEXT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "parcel_positions_pkey" PRIMARY KEY ("tenant_id","parcel_key")
);

-- AlterTable
ALTER TABLE "warehouses" ADD COLUMN "loading_gate" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "manifests" ADD COLUMN "loading_gate" TEXT NOT NULL DEFAULT 'warehouse',
ADD COLUMN "overridden_at" TIMESTAMPTZ(3),
ADD COLUMN "overridden_by" UUID,
ADD COLUMN "override_extra" INTEGER,
ADD COLUMN "override_missing" INTEGER,
ADD COLUMN "override_reason" TEXT;

-- CreateIndex
CREATE INDEX "scans_tenant_id_parcel_key_idx" ON "scans"("tenant_id", "parcel_key");

-- CreateIndex
CREATE INDEX "scans_tenant_id_manifest_id_scanned_at_id_idx" ON "scans"("tenant_id", "manifest_id", "scanned_at", "id");

-- CreateIndex
CREATE INDEX "scans_tenant_id_arrived_at_idx" ON "scans"("tenant_id", "arrived_at");

-- CreateIndex
CREATE INDEX "parcel_positions_tenant_id_manifest_id_idx" ON "parcel_positions"("tenant_id", "manifest_id");

-- CreateIndex
CREATE INDEX "parcel_positions_tenant_id_updated_at_idx" ON "parcel_positions"("tenant_id", "updated_at");

-- AddForeignKey
ALTER TABLE "scans" ADD CONSTRAINT "scans_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "parcel_positions" ADD CONSTRAINT "parcel_positions_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- ---------------------------------------------------------------------------------------------------
-- From here on: what schema.prisma cannot say.

-- Row-level security: no courier reads or writes scans.
do $$
declare
  name text;
begin
  foreach name in array array['scans', 'parcel_positions']
  loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format(
      'create policy staff_scope on %I
       using (tenant_id = app_tenant() and (select app_sees_all_couriers()))
       with check (tenant_id = app_tenant() and app_sees_all_couriers())', name);
  end loop;
end $$;

-- A scan is appended and later deleted by the retention. Only its outcome changes.
grant select, insert, delete on scans to crossdock_app;
grant update (parcel_key, event_id, outcome, reason) on scans to crossdock_app;
grant select, insert, update, delete on parcel_positions to crossdock_app;

alter table scans
  add constraint kind_is_known check (kind in ('receive', 'load', 'unload', 'locate', 'hold', 'deliver')),
  add constraint outcome_is_known check (outcome in ('done', 'conflict')),
  add constraint conflict_has_a_reason check ((outcome = 'conflict') = (reason is not null)),
  add constraint loads_have_a_manifest check ((kind in ('load', 'unload')) = (manifest_id is not null));

alter table manifests
  add constraint loading_gate_is_known check (loading_gate in ('warehouse', 'on', 'off')) not valid;

alter table parcel_positions
  add constraint loaded_has_a_time check ((manifest_id is null) = (loaded_at is null));

-- The outcome of a scan, its event and its key change in place (HOT updates need room on the page, and no index on what changes).
alter table scans set (fillfactor = 85);

-- Scans and the place follow a package whose number is corrected, whoever corrects it.
create function follow_tracking_key() returns trigger
language plpgsql as $$
begin
  update scans s set parcel_key = new.tracking_key where s.tenant_id = new.tenant_id and s.parcel_key = old.tracking_key;
  update parcel_positions p set parcel_key = new.tracking_key where p.tenant_id = new.tenant_id
    and p.parcel_key = old.tracking_key and not exists (
      select from parcel_positions other where other.tenant_id = new.tenant_id and other.parcel_key = new.tracking_key);
  return null;
end $$;

create trigger follow_tracking_key after update of tracking_key on packages
  for each row when (old.tracking_key is distinct from new.tracking_key) execute function follow_tracking_key();
