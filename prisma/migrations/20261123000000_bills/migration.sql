-- Bills with their lines and payments.

-- AlterTable
ALTER TABLE "bills" ADD COLUMN     "bill_from" JSONB,
ADD COLUMN     "bill_to" JSONB,
ADD COLUMN     "published_at" TIMESTAMPTZ(3),
ADD COLUMN     "remarks" TEXT,
ADD COLUMN     "sequence_number" INTEGER,
ADD COLUMN     "tax_rate" DECIMAL(6,3) NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "bill_lines" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "bill_id" UUID NOT NULL,
    "courier_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "description" TEXT,
    "package_id" UUID,
    "tracking_number" TEXT,
    "house_number" TEXT,
    "user_code" TEXT,
    "received_at" TIMESTAMPTZ(3),
    "weight_lb" DECIMAL(14,3),
    "tier" TEXT,
    "rate_usd" DECIMAL(10,2),
    "amount_usd" DECIMAL(12,2) NOT NULL,

    CONSTRAINT "bill_lines_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "bill_payments" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "bill_id" UUID NOT NULL,
    "courier_id" UUID NOT NULL,
    "amount_usd" DECIMAL(12,2) NOT NULL,
    "method" TEXT NOT NULL,
    "reference" TEXT,
    "received_on" DATE NOT NULL,
    "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "voided_at" TIMESTAMPTZ(3),
    "void_reason" TEXT,

    CONSTRAINT "bill_payments_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "bill_counters" (
    "tenant_id" UUID NOT NULL,
    "last_number" INTEGER NOT NULL,

    CONSTRAINT "bill_counters_pkey" PRIMARY KEY ("tenant_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "bill_lines_tenant_id_bill_id_position_key" ON "bill_lines"("tenant_id", "bill_id", "position");

-- CreateIndex
CREATE UNIQUE INDEX "bill_lines_tenant_id_package_id_key" ON "bill_lines"("tenant_id", "package_id");

-- CreateIndex
CREATE INDEX "bill_payments_tenant_id_bill_id_recorded_at_idx" ON "bill_payments"("tenant_id", "bill_id", "recorded_at");

-- CreateIndex
CREATE INDEX "bill_payments_tenant_id_courier_id_recorded_at_idx" ON "bill_payments"("tenant_id", "courier_id", "recorded_at");

-- CreateIndex
CREATE UNIQUE INDEX "bills_tenant_id_sequence_number_key" ON "bills"("tenant_id", "sequence_number");

-- AddForeignKey
ALTER TABLE "bill_lines" ADD CONSTRAINT "bill_lines_tenant_id_bill_id_fkey" FOREIGN KEY ("tenant_id", "bill_id") REFERENCES "bills"("tenant_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "bill_lines" ADD CONSTRAINT "bill_lines_tenant_id_package_id_fkey" FOREIGN KEY ("tenant_id", "package_id") REFERENCES "packages"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "bill_payments" ADD CONSTRAINT "bill_payments_tenant_id_bill_id_fkey" FOREIGN KEY ("tenant_id", "bill_id") REFERENCES "bills"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "bill_counters" ADD CONSTRAINT "bill_counters_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- Who may see and write -----------------------------------------------------------------------------------

do $$
declare
  name text;
begin
  foreach name in array array['bill_lines', 'bill_payments', 'bill_counters']
  loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format(
      'create policy staff_writes on %I
       using (tenant_id = app_tenant() and (select app_sees_all_couriers()))
       with check (tenant_id = app_tenant() and (select app_sees_all_couriers()))', name);
  end loop;

  -- The inner query runs under the policy of bills, which shows a courier its own and no draft.
  foreach name in array array['bill_lines', 'bill_payments']
  loop
    execute format(
      'create policy courier_reads on %I for select
       using (tenant_id = app_tenant() and courier_id = (select app_courier()) and bill_id in (select b.id from bills b))',
      name);
  end loop;
end $$;

grant select, insert, update, delete on bill_lines to crossdock_app;
grant select, insert, update on bill_payments, bill_counters to crossdock_app;

-- Invariants -------------------------------------------------------------------------------------------

alter table bills
  add constraint tax_rate_is_a_percentage check (tax_rate between 0 and 100),
  add constraint only_the_published_is_numbered check (status <> 'draft' or sequence_number is null),
  add constraint charges_something_or_nothing check (subtotal >= 0 and tax_amount >= 0);

alter table bill_counters add constraint counts_up check (last_number >= 0);

alter table bill_lines
  add constraint kind_is_known check (kind in ('package', 'air_freight', 'adjustment')),
  add constraint kind_has_its_columns check (
    (kind = 'package') = (package_id is not null)
    and (kind <> 'package' or (tracking_number is not null and weight_lb is not null and received_at is not null))
    and (kind <> 'air_freight' or (weight_lb is not null and rate_usd is not null))
    and (kind <> 'adjustment' or btrim(description) <> '')),
  add constraint only_an_adjustment_gives_back check (kind = 'adjustment' or amount_usd >= 0);

alter table bill_payments
  add constraint method_is_known check (method in ('bank_transfer', 'card', 'cash', 'cheque', 'other')),
  add constraint pays_something check (amount_usd > 0),
  add constraint voided_with_a_reason check ((voided_at is null) = (void_reason is null));

-- What was published stays as it was, whoever writes: only what was paid, and the status that follows from it, move.
create function keep_published_bill() returns trigger
language plpgsql as $$
declare
  moving constant text[] := array['status', 'paid_amount'];
begin
  if old.status = 'draft' then
    return case tg_op when 'DELETE' then old else new end;
  end if;
  if tg_op = 'DELETE' or new.status = 'draft' or to_jsonb(new) - moving <> to_jsonb(old) - moving then
    raise exception 'bill % is published', old.id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;

create trigger keep_published before update or delete on bills for each row execute function keep_published_bill();

-- By statement, because a bill may have 100,000 lines. A draft that is deleted is gone before its lines are.
create function keep_published_lines() returns trigger
language plpgsql as $$
begin
  if exists (select from changed join bills b on b.tenant_id = changed.tenant_id and b.id = changed.bill_id
    where b.status <> 'draft')
  then
    raise exception 'the bill is published' using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;

create trigger keep_published_added after insert on bill_lines
  referencing new table as changed for each statement execute function keep_published_lines();
create trigger keep_published_removed after delete on bill_lines
  referencing old table as changed for each statement execute function keep_published_lines();
create trigger keep_published_changed_from after update on bill_lines
  referencing old table as changed for each statement execute function keep_published_lines();
create trigger keep_published_changed_to after update on bill_lines
  referencing new table as changed for each statement execute function keep_published_lines();
