-- upgrade: rolling
-- reviewed: constraint events.type_is_known changed: it is only validated.
-- reviewed: constraint tenant_settings.missing_hours_are_bounded changed: it is only validated.
-- Validates what the migration before has added and replaced. Readers and writers go on meanwhile.
alter table tenant_settings validate constraint missing_hours_are_bounded;
alter table events validate constraint type_is_known;
