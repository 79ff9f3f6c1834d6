-- upgrade: rolling
-- Finds the packages that changed since a time (docs/decisions/0118), for the reason of packages_status as BRIN.
create index concurrently if not exists packages_changed on packages using brin (updated_at) with (pages_per_range = 1, autosummarize = on);
