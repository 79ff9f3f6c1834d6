-- upgrade: rolling
-- reviewed: constraint events.type_is_known changed: it is only validated.
-- Validates what the migration before has replaced. Readers and writers go on meanwhile.
alter table events validate constraint type_is_known;
