-- upgrade: rolling
-- Finds the events of a period among those of years (docs/decisions/0129). They are only appended, so the pages are in the order of this time.
create index concurrently if not exists package_events_recorded on package_events using brin (recorded_at) with (autosummarize = on);
