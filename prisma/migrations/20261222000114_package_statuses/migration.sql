-- upgrade: rolling
-- Finds packages by status without an entry per package (docs/decisions/0118). Pages of the table have mostly one status, except for
-- those of the latest packages. A btree index would end heap-only updates (docs/decisions/0046); from PostgreSQL 16 a BRIN index does not.
create index concurrently if not exists packages_status on packages using brin (status) with (pages_per_range = 1, autosummarize = on);
