-- What staff record of a package beside intake and manifests: when it happened, where, and what they say of it.

-- AlterTable
-- Lines that are there were written as they happened, by intake or by a manifest. Computed while the table is rewritten,
-- because an append-only table takes no update; what computes them is dropped, and the values stay.
ALTER TABLE "package_events" ADD COLUMN "location" TEXT,
ADD COLUMN "place" BIGSERIAL NOT NULL,
ADD COLUMN "recorded_at" TIMESTAMPTZ(3) GENERATED ALWAYS AS ("occurred_at") STORED NOT NULL,
ADD COLUMN "remarks" TEXT,
ADD COLUMN "source" TEXT GENERATED ALWAYS AS (CASE WHEN "previous_status" IS NULL THEN 'intake' ELSE 'manifest' END) STORED NOT NULL;
ALTER TABLE "package_events" ALTER COLUMN "recorded_at" DROP EXPRESSION, ALTER COLUMN "source" DROP EXPRESSION;
ALTER TABLE "package_events" ALTER COLUMN "recorded_at" SET DEFAULT CURRENT_TIMESTAMP;

-- DropIndex
DROP INDEX "package_events_tenant_id_package_id_occurred_at_id_idx";

-- CreateIndex
CREATE INDEX "package_events_tenant_id_package_id_place_idx" ON "package_events"("tenant_id", "package_id", "place");

-- Who may see and write -----------------------------------------------------------------------------------

grant usage on sequence package_events_place_seq to crossdock_app;

-- A courier reads the whole history of its own packages, also of the time when nobody knew whose they were; the inner
-- query runs under packages' policy.
drop policy courier_scope on package_events;
create policy courier_scope on package_events for select
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or exists (
    select from packages p where p.tenant_id = package_events.tenant_id and p.id = package_events.package_id
      and p.courier_id = (select app_courier()))));

-- Invariants -------------------------------------------------------------------------------------------

alter table package_events
  add constraint source_is_known check (source in ('intake', 'manifest', 'recorded')),
  add constraint only_intake_begins check ((source = 'intake') = (previous_status is null)),
  add constraint status_differs check (previous_status <> status);
