-- CreateTable
CREATE TABLE "courier_logos" (
    "tenant_id" UUID NOT NULL,
    "courier_id" UUID NOT NULL,
    "content_hash" TEXT NOT NULL,
    "media_type" TEXT NOT NULL,
    "content" BYTEA NOT NULL,
    "stored_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "courier_logos_pkey" PRIMARY KEY ("tenant_id","courier_id")
);

-- AddForeignKey
ALTER TABLE "courier_logos" ADD CONSTRAINT "courier_logos_tenant_id_courier_id_fkey" FOREIGN KEY ("tenant_id", "courier_id") REFERENCES "couriers"("tenant_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- ---------------------------------------------------------------------------------------------------
-- From here on: what schema.prisma cannot say.

alter table courier_logos enable row level security;
alter table courier_logos force row level security;

create policy courier_scope on courier_logos
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())))
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));

-- The database computes the name itself: a path can stand for no other bytes.
alter table courier_logos
  add constraint name_is_of_the_content check (content_hash = encode(sha256(content), 'hex')),
  add constraint media_type_is_known check (media_type in ('image/png', 'image/jpeg', 'image/svg+xml')),
  add constraint content_is_bounded check (octet_length(content) between 1 and 2097152);

-- Pictures are compressed already.
alter table courier_logos alter column content set storage external;

grant select, insert, update, delete on courier_logos to crossdock_app;
