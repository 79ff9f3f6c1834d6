-- AlterTable
ALTER TABLE "couriers" ADD COLUMN     "webhook_previous_secret_cipher" TEXT,
ADD COLUMN     "webhook_secret_cipher" TEXT,
ADD COLUMN     "webhook_secret_rotated_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "event_counters" (
    "tenant_id" UUID NOT NULL,
    "courier_id" UUID NOT NULL,
    "last_sequence" BIGINT NOT NULL,

    CONSTRAINT "event_counters_pkey" PRIMARY KEY ("tenant_id","courier_id")
);

-- CreateTable
CREATE TABLE "events" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "courier_id" UUID NOT NULL,
    "sequence" BIGINT,
    "type" TEXT NOT NULL,
    "package_id" UUID,
    "data" JSONB NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "events_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "courier_id" UUID NOT NULL,
    "endpoint" TEXT NOT NULL,
    "origin" TEXT NOT NULL DEFAULT 'event',
    "status" TEXT NOT NULL DEFAULT 'pending',
    "attempt_count" SMALLINT NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,
    "claimed_until" TIMESTAMPTZ(3),
    "last_http_status" SMALLINT,
    "sync_job_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "webhook_attempts" (
    "tenant_id" UUID NOT NULL,
    "delivery_id" UUID NOT NULL,
    "number" SMALLINT NOT NULL,
    "courier_id" UUID NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "outcome" TEXT NOT NULL,
    "http_status" SMALLINT,
    "response_start" TEXT,
    "error" TEXT,

    CONSTRAINT "webhook_attempts_pkey" PRIMARY KEY ("tenant_id","delivery_id","number")
);

-- CreateTable
CREATE TABLE "webhook_endpoints" (
    "tenant_id" UUID NOT NULL,
    "courier_id" UUID NOT NULL,
    "endpoint" TEXT NOT NULL,
    "failing_since" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL DEFAULT 0,
    "last_success_at" TIMESTAMPTZ(3),
    "last_failure_at" TIMESTAMPTZ(3),
    "paused_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_endpoints_pkey" PRIMARY KEY ("tenant_id","courier_id","endpoint")
);

-- CreateTable
CREATE TABLE "dispatches" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "courier_id" UUID,
    "requested_by" UUID NOT NULL,
    "selected" INTEGER NOT NULL,
    "queued" INTEGER NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "dispatches_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "manifest_mails" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "courier_id" UUID NOT NULL,
    "manifest_id" UUID NOT NULL,
    "manifest_number" TEXT NOT NULL,
    "manifest_status" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'queued',
    "recipient" TEXT,
    "attempt_count" SMALLINT NOT NULL DEFAULT 0,
    "last_error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "manifest_mails_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "customer_sync_runs" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "courier_id" UUID NOT NULL,
    "origin" TEXT NOT NULL,
    "requested_by" UUID,
    "status" TEXT NOT NULL DEFAULT 'queued',
    "http_status" SMALLINT,
    "received" INTEGER,
    "created" INTEGER,
    "updated" INTEGER,
    "unchanged" INTEGER,
    "skipped" INTEGER,
    "problems" JSONB,
    "error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "customer_sync_runs_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateIndex
CREATE INDEX "events_tenant_id_package_id_idx" ON "events"("tenant_id", "package_id");

-- CreateIndex
CREATE INDEX "events_tenant_id_occurred_at_idx" ON "events"("tenant_id", "occurred_at");

-- CreateIndex
CREATE UNIQUE INDEX "events_tenant_id_courier_id_sequence_key" ON "events"("tenant_id", "courier_id", "sequence");

-- CreateIndex
CREATE INDEX "webhook_deliveries_tenant_id_created_at_id_idx" ON "webhook_deliveries"("tenant_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "webhook_deliveries_tenant_id_courier_id_created_at_id_idx" ON "webhook_deliveries"("tenant_id", "courier_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "webhook_deliveries_tenant_id_event_id_idx" ON "webhook_deliveries"("tenant_id", "event_id");

-- CreateIndex
CREATE INDEX "manifest_mails_tenant_id_manifest_id_idx" ON "manifest_mails"("tenant_id", "manifest_id");

-- CreateIndex
CREATE INDEX "manifest_mails_tenant_id_created_at_idx" ON "manifest_mails"("tenant_id", "created_at");

-- CreateIndex
CREATE INDEX "customer_sync_runs_tenant_id_courier_id_id_idx" ON "customer_sync_runs"("tenant_id", "courier_id", "id");

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_tenant_id_event_id_fkey" FOREIGN KEY ("tenant_id", "event_id") REFERENCES "events"("tenant_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "webhook_attempts" ADD CONSTRAINT "webhook_attempts_tenant_id_delivery_id_fkey" FOREIGN KEY ("tenant_id", "delivery_id") REFERENCES "webhook_deliveries"("tenant_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_tenant_id_courier_id_fkey" FOREIGN KEY ("tenant_id", "courier_id") REFERENCES "couriers"("tenant_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "customer_sync_runs" ADD CONSTRAINT "customer_sync_runs_tenant_id_courier_id_fkey" FOREIGN KEY ("tenant_id", "courier_id") REFERENCES "couriers"("tenant_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- ---------------------------------------------------------------------------------------------------
-- From here on: what schema.prisma cannot say.

-- Row-level security -----------------------------------------------------------------------------------
-- A courier sees and writes its own; a row of no courier (a dispatch that staff asked for) is the staff's.

do $$
declare
  name text;
begin
  foreach name in array array['event_counters', 'events', 'webhook_deliveries', 'webhook_attempts', 'webhook_endpoints',
    'dispatches', 'manifest_mails', 'customer_sync_runs']
  loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format(
      'create policy courier_scope on %I
       using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
       with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))', name);
  end loop;
end $$;

-- Invariants -------------------------------------------------------------------------------------------

alter table events
  add constraint sequence_counts_from_one check (sequence > 0),
  add constraint type_is_known
    check (type in ('package.created', 'package.status_changed', 'package.updated', 'webhook.test')),
  add constraint only_tests_are_outside_the_feed check ((sequence is null) = (type = 'webhook.test'));

alter table webhook_deliveries
  add constraint endpoint_is_known check (endpoint in ('add_package', 'update_package')),
  add constraint origin_is_known check (origin in ('event', 'redelivery', 'recovery', 'test')),
  add constraint status_is_known check (status in ('pending', 'delivered', 'failed')),
  add constraint pending_has_a_time check ((status = 'pending') = (next_attempt_at is not null)),
  add constraint settled_has_a_time check ((status = 'pending') = (settled_at is null));

alter table webhook_attempts
  add constraint outcome_is_known
    check (outcome in ('delivered', 'rejected', 'timeout', 'unreachable', 'unsafe_target')),
  add constraint response_start_is_bounded check (length(response_start) <= 1024);

alter table webhook_endpoints add constraint endpoint_is_known check (endpoint in ('add_package', 'update_package'));

alter table manifest_mails
  add constraint status_is_known check (status in ('queued', 'sent', 'failed', 'skipped')),
  add constraint manifest_status_is_known check (manifest_status in ('ready', 'shipped', 'completed'));

alter table customer_sync_runs
  add constraint origin_is_known check (origin in ('schedule', 'request')),
  add constraint status_is_known check (status in ('queued', 'running', 'succeeded', 'failed'));

alter table couriers
  add constraint previous_secret_has_a_time
    check ((webhook_previous_secret_cipher is null) = (webhook_secret_rotated_at is null));

-- What is due, lane by lane: a lane is one URL of one courier.
create index webhook_deliveries_due on webhook_deliveries (tenant_id, courier_id, endpoint, next_attempt_at)
  where status = 'pending';
-- What was given up, which the log is asked for most, and tests; they are few, so that these cost next to nothing.
create index webhook_deliveries_failed on webhook_deliveries (tenant_id, created_at, id) where status = 'failed';
create index webhook_deliveries_failed_of_courier on webhook_deliveries (tenant_id, courier_id, created_at, id)
  where status = 'failed';
create index webhook_deliveries_tests on webhook_deliveries (tenant_id, created_at, id) where origin = 'test';
-- What waits to be synchronised, in the order in which it was asked for.
create index package_syncs_waiting on package_syncs (tenant_id, courier_id, requested_at, package_id)
  where status = 'queued';
-- One synchronisation of a courier's customers waits or runs at a time.
create unique index customer_sync_runs_one_open on customer_sync_runs (tenant_id, courier_id)
  where status in ('queued', 'running');

alter table event_counters set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
alter table webhook_deliveries set (fillfactor = 80);
-- Not looked at while it is a page or two: the foreign key of deliveries would be checked by reading it whole, and still
-- be when a manifest's 10,000 events come next.
alter table events set (autovacuum_analyze_threshold = 1000);

-- What the jobs said that nobody had delivered yet: their events, in the order of their writing, so that the feed
-- has them. Waiting synchronisations are in package_syncs; a mail about a manifest of the past is not sent.
alter table jobs no force row level security;
alter table packages no force row level security;
alter table events no force row level security;
alter table event_counters no force row level security;
insert into events (tenant_id, id, courier_id, sequence, type, package_id, data, occurred_at)
select j.tenant_id, j.id, j.courier_id, row_number() over (partition by j.tenant_id, j.courier_id order by j.created_at, j.id),
  j.kind, p.id,
  -- the number as the job has it, masked where it was
  jsonb_build_object('package_id', p.id, 'tracking_number', j.payload ->> 'tracking_number', 'house_number', p.house_number,
    'user_code', p.user_code, 'status', j.payload ->> 'status', 'manifest_number', j.payload ->> 'manifest_number')
  || case j.kind
    when 'package.created' then jsonb_build_object('first_name', p.first_name, 'last_name', p.last_name,
      'weight', p.weight_lb, 'length', p.length_in, 'width', p.width_in, 'height', p.height_in,
      'package_type', p.package_type, 'shipper', p.shipper, 'description', p.description,
      'entry_date_time', to_char(p.received_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS'))
    else jsonb_build_object('previous_status', j.payload ->> 'previous_status') end,
  j.created_at
from jobs j join packages p on p.tenant_id = j.tenant_id and p.id = (j.payload ->> 'package_id')::uuid
where j.kind in ('package.created', 'package.status_changed') and j.courier_id is not null;
insert into event_counters (tenant_id, courier_id, last_sequence)
select tenant_id, courier_id, max(sequence) from events group by tenant_id, courier_id;
alter table packages force row level security;
alter table events force row level security;
alter table event_counters force row level security;
drop table jobs;

-- The workers --------------------------------------------------------------------------------------------
-- In a schema of its own, because it belongs to no tenant: which pools of workers live, by their last sign of life.

create schema queue;
create table queue.worker_pools (
  id text primary key,
  seen_at timestamptz not null default now()
);

-- Background work goes tenant by tenant, each in its scope; this says which there are.
create function all_tenants() returns setof uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select id from tenants order by id
$$;

grant create on schema public to crossdock_lookup;
alter function all_tenants() owner to crossdock_lookup;
revoke create on schema public from crossdock_lookup;

revoke all on function all_tenants() from public;
grant execute on function all_tenants() to crossdock_app;
grant usage on schema queue to crossdock_app;
grant select, insert, update, delete on queue.worker_pools to crossdock_app;
grant select, insert, update on event_counters to crossdock_app;
grant select, insert, delete on events to crossdock_app;
grant select, insert, update, delete on webhook_deliveries, webhook_endpoints, manifest_mails, customer_sync_runs, dispatches
  to crossdock_app;
grant select, insert, delete on webhook_attempts to crossdock_app;
