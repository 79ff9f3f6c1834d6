-- What a courier's webhook URLs receive: our events, or one flat object per package.

-- The constant default does not rewrite the table. Running versions insert rows without these columns.
ALTER TABLE "couriers" ADD COLUMN     "add_package_format" TEXT NOT NULL DEFAULT 'event',
ADD COLUMN     "update_package_format" TEXT NOT NULL DEFAULT 'event';

-- ---------------------------------------------------------------------------------------------------
-- From here on: what schema.prisma cannot say.

alter table couriers add constraint couriers_package_formats_check
  check (add_package_format in ('event', 'flat') and update_package_format in ('event', 'flat'));
