-- Logos are drawn once, when they are uploaded, and printed from what was drawn (decision 0029). Logos that are here
-- already are drawn when they are printed next.

-- AlterTable
ALTER TABLE "courier_logos" ADD COLUMN     "raster" BYTEA,
ADD COLUMN     "raster_failed_at" TIMESTAMPTZ(3);

-- ---------------------------------------------------------------------------------------------------
-- From here on: what schema.prisma cannot say.

alter table courier_logos
  add constraint raster_is_bounded check (octet_length(raster) between 1 and 1048576),
  add constraint raster_or_failure check (raster is null or raster_failed_at is null);

-- Pictures are compressed already.
alter table courier_logos alter column raster set storage external;
