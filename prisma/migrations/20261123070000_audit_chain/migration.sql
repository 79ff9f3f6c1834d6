-- The audit log: an index for each filter, and a chain of keyed hashes over its entries (decision 0019).

-- DropIndex
DROP INDEX "audit_entries_tenant_id_entity_entity_id_at_idx";

-- CreateTable
CREATE TABLE "audit_links" (
    "tenant_id" UUID NOT NULL,
    "sequence" BIGINT NOT NULL,
    "entry_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,

    CONSTRAINT "audit_links_pkey" PRIMARY KEY ("tenant_id","sequence")
);

-- CreateTable
CREATE TABLE "audit_unsealed" (
    "tenant_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "entry_id" UUID NOT NULL,

    CONSTRAINT "audit_unsealed_pkey" PRIMARY KEY ("tenant_id","at","entry_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "audit_links_tenant_id_entry_id_key" ON "audit_links"("tenant_id", "entry_id");

-- CreateIndex
CREATE INDEX "audit_entries_tenant_id_at_id_idx" ON "audit_entries"("tenant_id", "at", "id");

-- CreateIndex
CREATE INDEX "audit_entries_tenant_id_actor_id_at_id_idx" ON "audit_entries"("tenant_id", "actor_id", "at", "id");

-- CreateIndex
CREATE INDEX "audit_entries_tenant_id_actor_kind_at_id_idx" ON "audit_entries"("tenant_id", "actor_kind", "at", "id");

-- CreateIndex
CREATE INDEX "audit_entries_tenant_id_entity_at_id_idx" ON "audit_entries"("tenant_id", "entity", "at", "id");

-- CreateIndex
CREATE INDEX "audit_entries_tenant_id_entity_id_at_id_idx" ON "audit_entries"("tenant_id", "entity_id", "at", "id");

-- CreateIndex
CREATE INDEX "audit_entries_tenant_id_action_at_id_idx" ON "audit_entries"("tenant_id", "action", "at", "id");

-- CreateIndex
CREATE INDEX "audit_entries_tenant_id_request_id_at_id_idx" ON "audit_entries"("tenant_id", "request_id", "at", "id");

-- AddForeignKey
ALTER TABLE "audit_links" ADD CONSTRAINT "audit_links_tenant_id_entry_id_fkey" FOREIGN KEY ("tenant_id", "entry_id") REFERENCES "audit_entries"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- Who may see and write -----------------------------------------------------------------------------------

alter table audit_links enable row level security;
alter table audit_links force row level security;
alter table audit_unsealed enable row level security;

create policy staff_reads on audit_links for select
  using (tenant_id = app_tenant() and (select app_sees_all_couriers()));
create policy staff_appends on audit_links for insert
  with check (tenant_id = app_tenant() and (select app_sees_all_couriers()));

-- Everybody's changes are recorded; they are sealed in the scope of the whole tenant.
create policy staff_seals on audit_unsealed
  using (tenant_id = app_tenant() and (select app_sees_all_couriers()))
  with check (tenant_id = app_tenant() and (select app_sees_all_couriers()));
create policy tenant_appends on audit_unsealed for insert
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or (select app_courier()) is not null));

grant select, insert on audit_links to crossdock_app;
grant select, insert, delete on audit_unsealed to crossdock_app;

-- Invariants -------------------------------------------------------------------------------------------

alter table audit_links
  add constraint counts_from_one check (sequence > 0),
  add constraint hash_is_sha256 check (length(hash) = 32);

create trigger append_only before update or delete on audit_links
  for each statement execute function refuse_change();

-- An entry waits for its seal from the transaction that writes it, whoever writes it: however late that commits, it
-- is found, and finding costs nothing for those that are sealed.
create function await_seal() returns trigger
language plpgsql as $$
begin
  insert into audit_unsealed (tenant_id, at, entry_id) select tenant_id, at, id from added;
  return null;
end $$;

create trigger await_seal after insert on audit_entries
  referencing new table as added for each statement execute function await_seal();

-- Rows come and go.
alter table audit_unsealed set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- The entries that there are already.
alter table audit_entries no force row level security;
insert into audit_unsealed (tenant_id, at, entry_id) select tenant_id, at, id from audit_entries;
alter table audit_entries force row level security;
alter table audit_unsealed force row level security;
