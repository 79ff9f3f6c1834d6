-- The first answers to requests that came with an Idempotency-Key.

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "courier_id" UUID,
    "principal_kind" TEXT NOT NULL,
    "principal_id" UUID NOT NULL,
    "key_hash" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "operation_id" TEXT NOT NULL,
    "answer_cipher" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("tenant_id","principal_kind","principal_id","key_hash")
);

-- CreateIndex
CREATE INDEX "idempotency_keys_tenant_id_created_at_idx" ON "idempotency_keys"("tenant_id", "created_at");

-- Who may see and write -----------------------------------------------------------------------------------

alter table idempotency_keys enable row level security;
alter table idempotency_keys force row level security;
create policy courier_scope on idempotency_keys
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
grant select, insert, update, delete on idempotency_keys to crossdock_app;

-- Invariants -------------------------------------------------------------------------------------------

alter table idempotency_keys
  add constraint principal_is_known check (principal_kind in ('user', 'courier')),
  add constraint a_couriers_key_is_its_own check (principal_kind = 'user' or principal_id is not distinct from courier_id);
